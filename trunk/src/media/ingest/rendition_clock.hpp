// RenditionClock: maps a rendition's wrapping 32-bit millisecond stamps to the timeline of its source. A service that keeps the
// source's times gets them back unchanged, however long it takes for a frame; the stamps of any other begin at the newest packet.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>

#include "base/time.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

class RenditionClock {
public:
    // A stamp further from the newest packet of the source than this starts a new time base.
    static constexpr std::chrono::milliseconds kBehindMax{10'000};
    static constexpr std::chrono::milliseconds kAheadMax{1'000};

    // Returns the time of a packet: never before the previous one of its track. `newest` is that of the source.
    MediaTime map(MediaKind kind, TrackId track, std::uint32_t stamp_ms, MediaTime newest);

private:
    std::int64_t shift_ms_ = 0;                                    // added to a stamp; the same for all tracks
    std::map<std::pair<MediaKind, TrackId>, std::int64_t> lasts_;  // the time of each track's latest packet
};

}  // namespace live::media
