// SegmentSync: how the node that has the publisher describes one segment to the nodes that relay the stream, so that they make
// the same segments: the state at its beginning, or the end of a publisher's last segment. Written as decimal numbers. Dry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "service/segments/segmenter_events.hpp"

namespace live::service::segments {

// Returns the hash of an initialization section. It is never 0, which stands for a missing one.
std::uint64_t hash_of_init(Bytes bytes);

std::string write_segment_sync(const SegmentSync& sync);
// Errc::malformed, Errc::limit.
Result<SegmentSync> read_segment_sync(std::string_view text);

}  // namespace live::service::segments
