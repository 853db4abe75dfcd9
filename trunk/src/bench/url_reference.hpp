// An HLS playlist as a load client needs it (RFC 8216): the variants of a multivariant playlist, or the segments of a media
// playlist. Tags that only a decoder needs are skipped.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::bench {

struct Segment {
    std::uint64_t sequence = 0;  // grows by one from segment to segment of the stream
    std::chrono::milliseconds duration{};
    std::string uri;  // as it is written: may be relative

    bool operator==(const Segment&) const = default;
};

struct Playlist {
    static constexpr std::size_t kBytesMax = 1 << 20;
    static constexpr std::size_t kSegmentsMax = 10'000;
    static constexpr std::size_t kVariantsMax = 64;
    static constexpr std::size_t kUriBytesMax = 4'096;

    // Not empty: this is a multivariant playlist and has no segments.
    std::vector<std::string> variants;
    std::vector<Segment> segments;
    std::string map;  // the URI of EXT-X-MAP, when there is one
    std::chrono::milliseconds target_duration{};
    bool is_ended = false;  // EXT-X-ENDLIST: nothing will be added
};

// Errc::malformed when it does not begin with #EXTM3U or a number is none, Errc::limit above the bounds.
Result<Playlist> parse_playlist(std::string_view text);

// The absolute URL that `reference` means in a document of the absolute URL `base` (RFC 3986, 5.2): another URL, "//host/path",
// "/path", "name", "../name", "?query".
std::string resolve_reference(std::string_view base, std::string_view reference);

}  // namespace live::bench
