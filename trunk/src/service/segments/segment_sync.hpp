// SegmentSync: how the node that has the publisher describes one segment to the nodes that relay the stream, so that they make
// the same segments: the state at its beginning, or the end of a publisher's last segment. Written as decimal numbers. Dry.
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

// A publisher's last segment has ended. `number` is that of the next segment, `frames` the hash of the ended one's frames.
struct SegmentsEnded {
    std::uint64_t number = 0;
    std::uint64_t frames = 0;

    bool operator==(const SegmentsEnded&) const = default;
};

struct SegmentSync {
    // Limits. A text beyond them is refused, and none is written.
    static constexpr std::size_t kTracksMax = Segmenter::kTracksMax;
    static constexpr std::size_t kListMax = 4 + 4 * kTracksMax;
    // The limit of times and other numbers, so that sums stay in range. Hashes may be larger.
    static constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 53;

    // A hash of the settings that decide the segments' bytes. Nodes with other settings make other segments.
    std::uint64_t rules = 0;
    // Identifies the sender. Another output, or the same one after a restart, counts its own segments.
    std::uint64_t instance = 0;
    std::variant<SegmentState, SegmentsEnded> event;
    // Numbers of the manifest's writer, opaque here.
    std::vector<std::uint64_t> list;

    bool operator==(const SegmentSync&) const = default;
};

// Returns the hash of an initialization section. It is never 0, which stands for a missing one.
std::uint64_t hash_of_init(Bytes bytes);

std::string write_segment_sync(const SegmentSync& sync);
// Errc::malformed, Errc::limit.
Result<SegmentSync> read_segment_sync(std::string_view text);

}  // namespace live::service::segments
