// Supplemental enhancement information (H.264, 7.3.2.3 and annex D; HEVC, 7.3.5 and annex D, with the same form and numbers).
#pragma once

#include <cstddef>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

// Does the NAL unit hold nothing but what ties a stream to a channel of constant rate: buffering periods, picture timing, and
// fill? Behind RTP, which has its own times, nobody reads that. `nal` with its header of `header_bytes`. Errc::malformed and
// Errc::need_more for what is no such unit.
Result<bool> is_timing_only_sei(Bytes nal, std::size_t header_bytes);

}  // namespace live::wire::codec
