// Times in manifests: RFC 3339 and xs:dateTime, in UTC and milliseconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live {

using UtcTime = std::chrono::sys_time<std::chrono::milliseconds>;

// "2026-11-21T14:05:09.042Z"
std::string utc_text(UtcTime time);
// Reads that form only. Errc::malformed.
Result<UtcTime> parse_utc_text(std::string_view text);

}  // namespace live
