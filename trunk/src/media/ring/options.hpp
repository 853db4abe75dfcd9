// Settings of one virtual host's sources and their readers: plain values with defaults. Directive names, bounds and descriptions
// are in media/ring/option_rows.hpp; nothing here parses or validates.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace live::media {

// How timestamps are presented to a player.
enum class TimeJitter : std::uint8_t {
    full,  // starts at 0 for each player, repairs jumps
    zero,  // starts at 0, keeps jumps
    off,   // the publisher's timestamps, unchanged
};

// Conversion between streams published as frames (RTMP) and as RTP (WebRTC); from the conf block rtc {}.
struct BridgeOptions {
    // Play frames as RTP: audio becomes Opus at this bit rate.
    bool rtmp_to_rtc = false;
    std::uint32_t opus_bitrate = 48'000;
    bool keep_bframe = false;
    // Players of RTP get another version of a stream that has B-frames.
    bool encodes_bframes = false;
    bool keep_avc_nalu_sei = true;
    // Play RTP as frames: audio becomes AAC at this bit rate, or remains Opus for players that support it and for other nodes,
    // and a key frame is requested at this interval.
    bool rtc_to_rtmp = false;
    bool keep_opus = false;
    std::uint32_t aac_bitrate = 48'000;
    std::chrono::milliseconds pli_for_rtmp = 6s;
};

// The conf block play {}, plus what the source needs from it.
struct PlayOptions {
    bool gop_cache = true;
    bool reduce_sequence_header = false;
    TimeJitter time_jitter = TimeJitter::full;
    bool mix_correct = false;
    bool atc = false;
    bool atc_auto = false;
    // Maximum frames in the GOP cache before it is dropped; 0 means no frame limit (the ring's byte limit still applies).
    std::uint32_t gop_cache_frames_max = 2500;
    // Merged write: data is sent to a reader when this many messages have accumulated, or after mw_latency. The loader sets 0 for
    // a virtual host that has min_latency on and does not set it.
    std::uint32_t mw_msgs = 8;
    std::chrono::milliseconds mw_latency = 350ms;
    // A reader further behind than this jumps to the newest GOP start.
    std::chrono::seconds queue_length = 30s;
    // If above zero: one message at a time with at least this gap.
    std::chrono::microseconds send_min_interval{0};
    // Our extension: a player that accepts no data for this long is closed, and one that waits this long for a publisher; 0 means
    // never.
    std::chrono::seconds stall_timeout = 30s;
    std::chrono::seconds unpublished_timeout = 10min;
    // The newest media is kept for this long even without readers; from http_remux { fast_cache; }.
    std::chrono::milliseconds history_min{0};
    // Merged write to other nodes that relay the stream; from cluster {}.
    std::chrono::milliseconds relay_mw_latency{0};
    // From rtc {}.
    BridgeOptions bridge;
};

// The conf block publish {}.
struct PublishOptions {
    // Merged read: the publisher's socket is read on a tick of merged_read_latency. The loader turns it off if min_latency is on.
    bool merged_read = false;
    // From min_latency of the virtual host: the publisher's socket is never read on a tick.
    bool min_latency = false;
    bool parse_sps = true;
    bool try_annexb_first = true;
    // Our extension: a second publisher replaces the first; if off, the second is refused.
    bool takeover = false;
    std::chrono::milliseconds merged_read_latency = 350ms;
    std::chrono::milliseconds first_packet_timeout = 20s;
    std::chrono::milliseconds normal_timeout = 5s;
    // The publisher is closed after this long without a player; 0 means never.
    std::chrono::seconds kickoff_for_idle{0};
    // Our extension: a file that players get while the publisher is away, at most for slate_time, if that is not 0; empty: none.
    std::string slate;
    std::chrono::seconds slate_time = 10min;
    // The same in a stream without a publisher so far, while it has players.
    bool always = false;
};

}  // namespace live::media
