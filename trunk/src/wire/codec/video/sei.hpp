// Supplemental enhancement information (H.264, 7.3.2.3 and annex D; HEVC, 7.3.5 and annex D, with the same form and numbers).
#pragma once

#include <cstddef>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

// Whether the NAL unit contains only messages that tie a stream to a constant-rate channel: buffering periods, picture timing and
// filler. Over RTP, which has its own timestamps, they are not used. `nal` includes its header of `header_bytes`. Errc::malformed
// and Errc::need_more for an invalid unit.
Result<bool> is_timing_only_sei(Bytes nal, std::size_t header_bytes);

}  // namespace live::wire::codec
