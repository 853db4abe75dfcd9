// Mark: what the node that has the publisher says about one of its segments, for nodes that relay the stream and make the same
// segments: the state at its beginning, or that a publisher's last segment has ended. Text of decimal numbers. Dry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::segments {

// The last segment has ended after the frames of this hash; `number` is the next one's.
struct SegmentsEnded {
    std::uint64_t number = 0;
    std::uint64_t frames = 0;

    bool operator==(const SegmentsEnded&) const = default;
};

struct Mark {
    // Limits; a mark beyond them is not written, or refused.
    static constexpr std::size_t kTracksMax = Segmenter::kTracksMax;
    static constexpr std::size_t kListMax = 4 + 4 * kTracksMax;
    // Of times and other numbers, so that sums stay in range; hashes may be larger.
    static constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 53;

    // A hash of what the output's settings decide. Nodes with others make other segments.
    std::uint64_t rules = 0;
    // Of the output that says so; another one, or the same after a restart, counts its own segments.
    std::uint64_t instance = 0;
    std::variant<SegmentState, SegmentsEnded> what;
    // What the writer of the manifest adds: opaque here.
    std::vector<std::uint64_t> list;

    bool operator==(const Mark&) const = default;
};

// Of an initialization section; never 0, which means none.
std::uint64_t hash_of_init(Bytes bytes);

std::string write_mark(const Mark& mark);
// Errc::malformed, Errc::limit.
Result<Mark> read_mark(std::string_view text);

}  // namespace live::service::segments
