// Times in HTTP headers: IMF-fixdate (RFC 9110, 5.6.7), the only form still generated. In seconds since 1970, UTC.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace live::wire::http {

// "Sun, 06 Nov 1994 08:49:37 GMT". Years are clamped to 1..9999.
std::string format_date(std::chrono::sys_seconds time);
// nullopt for anything else, including the two obsolete forms; the day name is not checked against the date.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text);

// The Date header of responses, formatted once a second.
class DateText {
public:
    const std::string& text(std::chrono::system_clock::time_point now);

private:
    std::chrono::sys_seconds at_{};
    std::string text_;
};

}  // namespace live::wire::http
