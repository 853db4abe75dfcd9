// Words and numbers in the headers and descriptions of RTSP.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

namespace live::wire::rtsp {

inline constexpr std::string_view kBlanks = " \t";

// The text before `letter`; removes both from `rest`. All of it when `letter` is missing.
inline std::string_view take_until(std::string_view& rest, char letter) {
    const std::size_t end = std::min(rest.find(letter), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return part;
}

// All of `text` as a number; nullopt if it is something else or out of range.
template <class Number>
std::optional<Number> number_of(std::string_view text, int base = 10) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    const bool is_number = !text.empty() && failure == std::errc() && end == text.data() + text.size();
    return is_number ? std::optional(value) : std::nullopt;
}

}  // namespace live::wire::rtsp
