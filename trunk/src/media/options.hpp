// What an operator can say about one virtual host's sources and their readers: plain values with their defaults. The names,
// bounds and sentences of the conf file are beside this file in media/option_rows.hpp; nothing here parses or checks.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace live::media {

// What a player sees as time zero.
enum class TimeJitter : std::uint8_t {
    full,  // starts each player at 0 and repairs jumps
    zero,  // starts at 0, jumps stay
    off,   // the publisher's times as they are
};

// What is converted between streams that come as frames (RTMP) and streams that come as RTP (WebRTC); from the conf block rtc {}.
struct BridgeOptions {
    // Frames can be played as RTP: audio becomes Opus at this many bits a second.
    bool rtmp_to_rtc = false;
    std::uint32_t opus_bitrate = 48'000;
    bool keep_bframe = false;
    bool keep_avc_nalu_sei = true;
    // RTP can be played as frames: audio becomes AAC at this many bits a second, and a key frame is asked for this often.
    bool rtc_to_rtmp = false;
    std::uint32_t aac_bitrate = 48'000;
    std::chrono::milliseconds pli_for_rtmp = 6s;
};

// The conf block play {}, and what the source needs of it.
struct PlayOptions {
    bool gop_cache = true;
    // Frames that the GOP cache may hold before it is dropped; 0 means no limit of frames (the ring's byte bound stays).
    std::uint32_t gop_cache_frames_max = 2500;
    // A reader that is further behind than this jumps to the newest GOP start.
    std::chrono::seconds queue_length = 30s;
    TimeJitter time_jitter = TimeJitter::full;
    bool mix_correct = false;
    bool atc = false;
    bool atc_auto = false;
    // Merged write: a reader is sent to when this much time has gathered...
    std::chrono::milliseconds mw_latency = 350ms;
    // ...or when it has gathered this many messages. The loader sets 0 for a virtual host with min_latency on that does not say
    // it.
    std::uint32_t mw_msgs = 8;
    // Above zero: one message at a time with at least this gap.
    std::chrono::microseconds send_min_interval{0};
    bool reduce_sequence_header = false;
    // Ours: a player that takes nothing for so long is closed, and one that waits so long for a publisher; 0 means never.
    std::chrono::seconds stall_timeout = 30s;
    std::chrono::seconds unpublished_timeout = 10min;
    // Kept of the newest media even while nobody reads; from http_remux { fast_cache; }.
    std::chrono::milliseconds history_min{0};
    // From rtc {}.
    BridgeOptions bridge;
};

// The conf block publish {}.
struct PublishOptions {
    // Merged read: the publisher's socket is read on a tick of merged_read_latency. The loader switches it off with min_latency
    // on.
    bool merged_read = false;
    std::chrono::milliseconds merged_read_latency = 350ms;
    std::chrono::milliseconds first_packet_timeout = 20s;
    std::chrono::milliseconds normal_timeout = 5s;
    bool parse_sps = true;
    bool try_annexb_first = true;
    // The publisher is closed after this long without a player; 0 means never.
    std::chrono::seconds kickoff_for_idle{0};
    // Ours: a second publisher replaces the first one; off refuses the second.
    bool takeover = false;
};

}  // namespace live::media
