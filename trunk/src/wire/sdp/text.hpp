// Validated parsing of words and numbers in a line of SDP.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace live::wire::sdp {

// The text before `letter`; removes both from `rest`. All of it when `letter` is not found.
inline std::string_view take_until(std::string_view& rest, char letter) {
    const std::size_t at = rest.find(letter);
    const std::string_view head = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    return head;
}

// Digits only, up to `max`.
template <class Number>
std::optional<Number> number(std::string_view text, Number max) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > max)
        return std::nullopt;
    return value;
}

}  // namespace live::wire::sdp
