// Pieces of a line of SDP: words and numbers, checked.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace live::wire::sdp {

// The text before `letter`, which both are taken off `rest`; all of it when the letter is not there.
inline std::string_view take_until(std::string_view& rest, char letter) {
    const std::size_t at = rest.find(letter);
    const std::string_view head = rest.substr(0, at);
    rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
    return head;
}

// Digits and nothing else, up to `max`.
template <class Number>
std::optional<Number> number(std::string_view text, Number max) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > max)
        return std::nullopt;
    return value;
}

}  // namespace live::wire::sdp
