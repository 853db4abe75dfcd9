// The longest frame that outputs copy into segments. Copying this much blocks the event loop for one to two milliseconds, in
// memory that is resident already (SourceFeed); RTMP and HTTP-FLV clients get longer ones too.
#pragma once

#include <cstddef>

namespace live::service::files {

inline constexpr std::size_t kFrameBytesMax = 4U << 20;

}  // namespace live::service::files
