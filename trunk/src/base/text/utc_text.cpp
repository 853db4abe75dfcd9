#include "base/text/utc_text.hpp"

#include <fmt/format.h>

namespace live {

using namespace std::chrono;

namespace {

// A system clock counts nanoseconds since 1970.
constexpr int kFirstYear = 1970;
constexpr int kLastYear = 2200;

}  // namespace

std::string utc_text(UtcTime time) {
    const sys_days day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

Result<UtcTime> parse_utc_text(std::string_view text) {
    static constexpr std::string_view kForm = "0000-00-00T00:00:00.000Z";
    const auto has_form = [&text](std::size_t i) {
        return kForm[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == kForm[i];
    };
    for (std::size_t i = 0; i < kForm.size(); ++i)
        if (text.size() != kForm.size() || !has_form(i))
            return Error(Errc::malformed, "not a time");
    const auto part = [&text](std::size_t at, std::size_t count) {
        int number = 0;
        for (const char digit : text.substr(at, count))
            number = 10 * number + (digit - '0');
        return number;
    };
    const year_month_day date{year(part(0, 4)), month(static_cast<unsigned>(part(5, 2))), day(static_cast<unsigned>(part(8, 2)))};
    if (!date.ok() || part(0, 4) < kFirstYear || part(0, 4) > kLastYear || part(11, 2) > 23 || part(14, 2) > 59 ||
        part(17, 2) > 60)
        return Error(Errc::malformed, "not a time");
    return sys_days(date) + hours(part(11, 2)) + minutes(part(14, 2)) + seconds(part(17, 2)) + milliseconds(part(20, 3));
}

}  // namespace live
