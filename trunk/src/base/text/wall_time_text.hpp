// Times of the wall clock as RFC 3339 has them, to the microsecond and with any offset: parameters of requests, lists.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live {

using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

// "2026-11-29T14:05:09.042123Z"
std::string wall_time_text(WallTime time);
// "2026-11-29T14:05:09Z", "2026-11-29T15:05:09.042123+01:00". A space stands for the plus sign of the offset: in a query it is
// one that was not encoded. Errc::malformed.
Result<WallTime> parse_wall_time(std::string_view text);

}  // namespace live
