// The longest frame that outputs copy into segments. A copy of so much takes two to three milliseconds, in which the event loop
// does nothing else; clients of RTMP and HTTP-FLV, who are sent frames from where they are, get longer ones too.
#pragma once

#include <cstddef>

namespace live::service::files {

inline constexpr std::size_t kFrameBytesMax = 4U << 20;

}  // namespace live::service::files
