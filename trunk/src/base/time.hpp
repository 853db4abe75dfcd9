// Clock types of the dry rooms, which receive `now` and never query a clock.
#pragma once

#include <chrono>

namespace live {

using TimePoint = std::chrono::steady_clock::time_point;
using Duration = std::chrono::steady_clock::duration;
// Time on a source's own timeline, which starts at zero when publishing starts.
using MediaTime = std::chrono::microseconds;

using namespace std::chrono_literals;

}  // namespace live
