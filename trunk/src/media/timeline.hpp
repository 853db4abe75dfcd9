// Timeline: turns a publisher's wrapping 32-bit millisecond stamps into one 64-bit timeline per source that starts at zero, never
// runs backwards within a kind and survives wraps, jumps, looped clips and a new publisher. It repairs; it never refuses.
//
// Audio and video move together: when a stamp leaves the plausible range, one new shift is made and both kinds adopt it as they
// reach it, so that their distance stays what the publisher sent.
#pragma once

#include <array>
#include <cstdint>

#include "base/time.hpp"
#include "media/packet.hpp"

namespace live::media {

class Timeline {
public:
    // A step back by more than this, or ahead of everything by more than kJumpAhead, is a new time base.
    static constexpr std::chrono::milliseconds kJumpBack{500};
    static constexpr std::chrono::milliseconds kJumpAhead{10'000};
    // How far another track of a kind may be in front of the first one.
    static constexpr std::chrono::milliseconds kTrackLead{200};
    // How far behind the newest packet a new time base starts.
    static constexpr std::chrono::milliseconds kJoin{10};

    struct Stamp {
        MediaTime dts{};
        bool jumped = false;  // a new time base begins with this packet
    };

    Stamp map(Kind kind, std::uint32_t stamp_ms);
    // Of another track of a kind than the one that map() places: on its time base, and not behind anything of its kind. However
    // such stamps are, they make no new time base.
    MediaTime follow(Kind kind, std::uint32_t stamp_ms);
    // The next stamp comes from another publisher: its time base goes on right after the newest packet.
    void start_publisher();

    MediaTime newest() const { return newest_; }
    // What to add to a dts to get the publisher's own time back.
    MediaTime publisher_offset() const { return std::chrono::milliseconds(-shift_ms_); }
    std::uint64_t jumps() const { return jumps_; }

private:
    struct Track {
        std::int64_t raw_ms = 0;    // unwrapped
        std::int64_t shift_ms = 0;  // added to raw_ms
        std::int64_t own_ms = 0;    // the latest that map() placed, on the source's timeline
        std::int64_t last_ms = 0;   // the latest of the kind
        bool seen = false;          // by this publisher
        bool ever = false;          // by any publisher
    };

    bool plausible(const Track& track, Kind kind, std::int64_t time_ms) const;

    std::array<Track, kKindCount> tracks_{};
    MediaTime newest_{};
    std::int64_t shift_ms_ = 0;
    std::uint64_t jumps_ = 0;
    bool started_ = false;     // by this publisher
    bool any_packet_ = false;  // by any publisher
};

}  // namespace live::media
