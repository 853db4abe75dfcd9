// ASCII text of protocols, hosts and files; independent of the locale.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace live::ascii {

constexpr char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

constexpr bool is_alphanumeric(char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

// The value of a hexadecimal digit; -1 for another letter.
constexpr int digit_of(char letter) {
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    const char small = lower(letter);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

// The byte encoded by "%XX" at the front of `text`; -1 if missing.
constexpr int escaped_byte(std::string_view text) {
    if (text.size() < 3 || text[0] != '%')
        return -1;
    const int high = digit_of(text[1]);
    const int low = digit_of(text[2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

inline std::string lowered(std::string_view text) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), [](char letter) { return lower(letter); });
    return made;
}

// Case-insensitive comparison.
constexpr bool are_same(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char left, char right) { return lower(left) == lower(right); });
}

// Strips the characters in `letters` from both ends.
constexpr std::string_view trimmed(std::string_view text, std::string_view letters) {
    text.remove_prefix(std::min(text.find_first_not_of(letters), text.size()));
    return text.substr(0, text.find_last_not_of(letters) + 1);
}

}  // namespace live::ascii
