// Rows for media/ring/options.hpp: the directives of a virtual host's play {} and publish {} blocks.
#pragma once

#include <array>

#include "base/config/row.hpp"
#include "base/time.hpp"
#include "media/ring/options.hpp"

namespace live::media {

// The maximum number of messages one merged write waits for.
inline constexpr std::uint32_t kMergedMessagesMax = 128;

inline constexpr std::array kTimeJitterNames = {
    config::Named<TimeJitter>{"full", TimeJitter::full},
    config::Named<TimeJitter>{"zero", TimeJitter::zero},
    config::Named<TimeJitter>{"off", TimeJitter::off},
};

inline constexpr auto kPlayRows = config::Rows{
    config::row(&PlayOptions::gop_cache, "gop_cache", config::Reload::next_session,
                "A new player starts with the newest key frame that is kept, not with the next one that comes."),
    config::row(&PlayOptions::gop_cache_frames_max, "gop_cache_max_frames", 0, 1'000'000, config::Reload::next_session,
                "The GOP cache is dropped when it grows over this many frames; 0 is no limit."),
    config::row(&PlayOptions::queue_length, "queue_length", 1s, 3600s, config::Reload::next_session,
                "A player that is further behind than this skips to the newest key frame.")
        .clamped(),
    config::row(&PlayOptions::time_jitter, "time_jitter", kTimeJitterNames, config::Reload::next_session,
                "Time zero of a player: full starts each player at 0 and repairs jumps, zero only starts at 0, off sends "
                "the publisher's times."),
    config::row(&PlayOptions::mix_correct, "mix_correct", config::Reload::next_session,
                "Puts audio and video back into the order of their times."),
    config::row(
        &PlayOptions::atc, "atc", config::Reload::next_session,
        "Keeps the publisher's absolute times, for several servers that carry the same stream; switches time_jitter off."),
    config::row(&PlayOptions::atc_auto, "atc_auto", config::Reload::next_session,
                "Switches atc on for a publisher whose metadata says bravo_atc."),
    config::row(&PlayOptions::mw_latency, "mw_latency", 0ms, 60'000ms, config::Reload::next_session,
                "Merged write: a player is sent to when this much time has gathered. The larger, the less work per byte.")
        .clamped(),
    config::row(&PlayOptions::mw_msgs, "mw_msgs", 0, kMergedMessagesMax, config::Reload::next_session,
                "Merged write: or when this many messages have gathered. 0 when it is not said and min_latency is on.")
        .clamped(),
    config::row(&PlayOptions::send_min_interval, "send_min_interval", 0ms, 60'000ms, config::Reload::next_session,
                "Above 0: one message at a time with at least this gap. Fractions are allowed."),
    config::row(&PlayOptions::reduce_sequence_header, "reduce_sequence_header", config::Reload::next_session,
                "Does not send a sequence header again that has not changed."),
    config::row(&PlayOptions::stall_timeout, "stall_timeout", 0s, 86'400s, config::Reload::next_session,
                "Ours: a player that takes nothing for so long is closed; 0 is never."),
    config::row(&PlayOptions::unpublished_timeout, "unpublished_timeout", 0s, 86'400s, config::Reload::next_session,
                "Ours: a player of a stream that nobody publishes for so long is closed; 0 is never."),
};

inline constexpr auto kPublishRows = config::Rows{
    config::row(&PublishOptions::merged_read, "mr", config::Reload::next_session,
                "Merged read: the publisher's socket is read once every mr_latency. Off when min_latency is on."),
    config::row(&PublishOptions::merged_read_latency, "mr_latency", 0ms, 60'000ms, config::Reload::next_session,
                "How long a merged read gathers.")
        .clamped(),
    config::row(&PublishOptions::first_packet_timeout, "firstpkt_timeout", 100ms, 3'600'000ms, config::Reload::next_session,
                "How long a publisher may stay silent after it is admitted.")
        .clamped(),
    config::row(&PublishOptions::normal_timeout, "normal_timeout", 100ms, 3'600'000ms, config::Reload::next_session,
                "How long a publisher may stay silent between packets.")
        .clamped(),
    config::row(&PublishOptions::parse_sps, "parse_sps", config::Reload::next_session,
                "Reads the frame size and profile from the sequence header."),
    config::row(&PublishOptions::try_annexb_first, "try_annexb_first", config::Reload::next_session,
                "In doubt a frame is taken for Annex B if the publisher has sent some before; off: never."),
    config::row(&PublishOptions::kickoff_for_idle, "kickoff_for_idle", 0s, 86'400s, config::Reload::next_session,
                "Closes a publisher that had no player for this long; 0 is never. Not together with forward."),
    config::row(&PublishOptions::takeover, "takeover", config::Reload::next_session,
                "Ours: a second publisher of a live stream replaces the first one and players stay; off refuses the second."),
    config::row(&PublishOptions::slate, "slate", config::Reload::next_session,
                "Ours: a film or an image that players see while the publisher is away, until its first key frame after it has "
                "returned. ffmpeg prepares it in the codecs and the size of each stream, at most 60 s of it.")
        .example("./conf/slate.mp4"),
    config::row(&PublishOptions::slate_time, "slate_time", 0s, 604'800s, config::Reload::next_session,
                "Ours: a stream ends when its publisher has been away for this long, in spite of the slate; 0 is never."),
    config::row(
        &PublishOptions::always, "always", config::Reload::next_session,
        "Ours: a stream that nobody has published plays the slate, too, while it has players: H.264 and AAC, in the size of "
        "the file."),
};

}  // namespace live::media
