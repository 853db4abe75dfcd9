#include "base/text/wall_time_text.hpp"

#include <fmt/format.h>

#include "base/text/utc_text.hpp"

namespace live {

using namespace std::chrono;

namespace {

constexpr std::size_t kDateBytes = std::string_view("2026-11-29T14:05:09").size();
constexpr std::size_t kFractionDigitsMax = 9;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

Error no_time() { return {Errc::malformed, "not a time as in RFC 3339"}; }

Result<minutes> parse_offset(std::string_view text) {
    if (text == "Z" || text == "z")
        return minutes(0);
    constexpr std::string_view kForm = "+00:00";
    if (text.size() != kForm.size() || text[3] != ':' || !(text[0] == '+' || text[0] == '-' || text[0] == ' '))
        return no_time();
    for (const std::size_t at : {1U, 2U, 4U, 5U})
        if (!is_digit(text[at]))
            return no_time();
    const auto number = [text](std::size_t at) { return 10 * (text[at] - '0') + (text[at + 1] - '0'); };
    if (number(1) > 23 || number(4) > 59)
        return no_time();
    const minutes offset = hours(number(1)) + minutes(number(4));
    return text[0] == '-' ? -offset : offset;
}

}  // namespace

std::string wall_time_text(WallTime time) {
    const auto whole = floor<milliseconds>(time);
    std::string text = utc_text(whole);
    text.pop_back();
    return text + fmt::format("{:03}Z", (time - whole).count());
}

Result<WallTime> parse_wall_time(std::string_view text) {
    if (text.size() <= kDateBytes)
        return no_time();
    std::string date(text.substr(0, kDateBytes));
    date[10] = date[10] == 't' || date[10] == ' ' ? 'T' : date[10];
    const UtcTime seconds = TRY(parse_utc_text(date + ".000Z"));
    text.remove_prefix(kDateBytes);
    microseconds fraction{};
    if (text.front() == '.') {
        text.remove_prefix(1);
        std::size_t digits = 0;
        for (std::int64_t unit = 100'000; digits < text.size() && is_digit(text[digits]); ++digits, unit /= 10)
            fraction += microseconds((text[digits] - '0') * unit);
        if (digits == 0 || digits > kFractionDigitsMax)
            return no_time();
        text.remove_prefix(digits);
    }
    return WallTime(seconds) + fraction - TRY(parse_offset(text));
}

}  // namespace live
