// WebVTT (W3C): reads a text with cues, and writes the segments of a live stream (RFC 8216, 3.5). Cues are plain text: styles,
// regions, notes, positions and tags are left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace live::wire::webvtt {

// Cues in one text. More are Errc::limit.
inline constexpr std::size_t kCuesMax = 256;

struct Cue {
    MediaTime start{};
    MediaTime end{};     // after the start
    std::string text{};  // lines end with a line feed, but for the last one; no line is empty

    bool operator==(const Cue&) const = default;
};

// Errc::malformed if the text does not begin with the signature. Malformed cues are left out, as the specification requires.
Result<std::vector<Cue>> parse_webvtt(std::string_view text);

// Returns a text that is not in markup without what a cue cannot contain: empty lines, carriage returns, NUL.
std::string lines_of(std::string_view text);

// Writes a segment whose video has `ticks` of 90 kHz at media time `at`. Times of cues are not negative. A cue in several
// segments has the same identifier in all of them.
std::string write_segment(MediaTime at, std::uint64_t ticks, std::span<const Cue> cues);

}  // namespace live::wire::webvtt
