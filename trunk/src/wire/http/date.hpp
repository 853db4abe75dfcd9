// Times in HTTP headers: IMF-fixdate (RFC 9110, 5.6.7), the only form that is still sent. In seconds since 1970, UTC.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace live::wire::http {

// "Sun, 06 Nov 1994 08:49:37 GMT". Years 1 to 9999; others become the nearest of these.
std::string format_date(std::chrono::sys_seconds time);
// None for anything else, the two obsolete forms included; the name of the day is not compared with the date.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text);

}  // namespace live::wire::http
