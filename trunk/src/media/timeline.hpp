// Timeline: maps a publisher's wrapping 32-bit millisecond stamps to one 64-bit timeline per source that starts at zero, never
// runs backwards within a track and survives wraps, jumps, looped clips and a new publisher. It repairs stamps and never rejects
// them.
//
// Audio and video move together: when a stamp leaves the plausible range, one new shift is computed and each kind adopts it when
// it reaches it, so that their distance stays as the publisher sent it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "base/time.hpp"
#include "media/packet.hpp"

namespace live::media {

class Timeline {
public:
    // A step back by more than this, or more than kJumpAhead ahead of everything, starts a new time base.
    static constexpr std::chrono::milliseconds kJumpBack{500};
    static constexpr std::chrono::milliseconds kJumpAhead{10'000};
    // How far another track of a kind may be ahead of the first one, or behind it: transport streams carry up to a second of
    // audio in one unit.
    static constexpr std::chrono::milliseconds kTrackDistance{1'000};
    // How far after the newest packet a new time base starts.
    static constexpr std::chrono::milliseconds kJoin{10};

    // The same after another node's connection: enough that no frame must be moved, because audio is somewhat older than the
    // first frame.
    static constexpr std::chrono::milliseconds kRelayJoin{300};

    struct Stamp {
        MediaTime dts{};
        bool jumped = false;  // a new time base begins with this packet
    };

    Stamp map(Kind kind, std::uint32_t stamp_ms);
    // For a track other than the one map() places: on the same time base, and near the first track. Such stamps never start a new
    // time base.
    MediaTime follow(Kind kind, TrackId id, std::uint32_t stamp_ms);
    // The next stamp comes from another publisher: its time base continues right after the newest packet.
    void start_publisher();
    // For a publisher that is another node, with the first stamp of its audio or video: stamps are kept as they are, as far as
    // they continue the stream.
    void start_relay(std::uint32_t stamp_ms);

    MediaTime newest() const { return newest_; }
    // Added to a dts, gives the publisher's own time.
    MediaTime publisher_offset() const { return std::chrono::milliseconds(-shift_ms_); }
    std::uint64_t jumps() const { return jumps_; }

private:
    struct Track {
        std::int64_t raw_ms = 0;    // unwrapped
        std::int64_t shift_ms = 0;  // added to raw_ms
        std::int64_t own_ms = 0;    // the latest, on the source's timeline
        std::int64_t last_ms = 0;   // the same, never backwards
        bool seen = false;          // by this publisher
        bool ever = false;          // by any publisher
    };

    bool plausible(const Track& track, Kind kind, std::int64_t time_ms) const;

    std::array<Track, kKindCount> tracks_{};                         // the first of each kind
    std::map<std::pair<Kind, TrackId>, std::int64_t> followers_ms_;  // the latest of each other track
    MediaTime newest_{};
    std::int64_t shift_ms_ = 0;
    std::uint64_t jumps_ = 0;
    bool started_ = false;     // by this publisher
    bool any_packet_ = false;  // by any publisher
};

}  // namespace live::media
