#include "wire/http/date.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace live::wire::http {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::size_t kLength = std::string_view("Sun, 06 Nov 1994 08:49:37 GMT").size();

// Exactly `count` digits at `at`, or nullopt.
std::optional<unsigned> digits(std::string_view text, std::size_t at, std::size_t count) {
    unsigned number = 0;
    for (const char letter : text.substr(at, count)) {
        if (letter < '0' || letter > '9')
            return std::nullopt;
        number = number * 10 + static_cast<unsigned>(letter - '0');
    }
    return number;
}

}  // namespace

std::string format_date(sys_seconds time) {
    const sys_seconds first = sys_days(year(1) / January / 1);
    const sys_seconds last = sys_days(year(9999) / December / 31) + hours(24) - seconds(1);
    time = std::clamp(time, first, last);
    const sys_days day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[weekday(day).c_encoding()],
                       static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

const std::string& DateText::text(system_clock::time_point now) {
    const auto second = floor<seconds>(now);
    if (text_.empty() || second != at_)
        text_ = format_date(at_ = second);
    return text_;
}

std::optional<sys_seconds> parse_date(std::string_view text) {
    if (text.size() != kLength || text.substr(3, 2) != ", " || text.substr(25) != " GMT" || text[7] != ' ' || text[11] != ' ' ||
        text[16] != ' ' || text[19] != ':' || text[22] != ':')
        return std::nullopt;
    const auto named = std::ranges::find(kMonths, text.substr(8, 3));
    const auto day_number = digits(text, 5, 2);
    const auto year_number = digits(text, 12, 4);
    const auto hour = digits(text, 17, 2);
    const auto minute = digits(text, 20, 2);
    const auto second = digits(text, 23, 2);
    if (std::ranges::find(kDays, text.substr(0, 3)) == kDays.end() || named == kMonths.end() || !day_number || !year_number ||
        !hour || !minute || !second)
        return std::nullopt;
    const year_month_day date(year(static_cast<int>(*year_number)), month(static_cast<unsigned>(named - kMonths.begin()) + 1),
                              day(*day_number));
    // The format allows leap seconds (":60").
    if (!date.ok() || *year_number == 0 || *hour > 23 || *minute > 59 || *second > 60)
        return std::nullopt;
    return sys_days(date) + hours(*hour) + minutes(*minute) + seconds(*second);
}

}  // namespace live::wire::http
