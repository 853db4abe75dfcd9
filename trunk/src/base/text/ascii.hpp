// ASCII text of protocols, hosts and files; independent of the locale.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Below 0x20, or 0x7F.
constexpr bool is_control(char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; }

// The position of the first control character from `at` on, or the size of `text`. Eight letters at a time: every line of an HTTP
// message passes.
inline std::size_t find_control(std::string_view text, std::size_t at = 0) {
    constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
    constexpr std::uint64_t kHighest = kOnes * 0x80;
    while (text.size() - at >= sizeof(std::uint64_t)) {
        std::uint64_t letters = 0;
        std::memcpy(&letters, text.data() + at, sizeof letters);
        // The highest bit of a byte is set where subtracting has borrowed, in the first such byte at least.
        const std::uint64_t deletes = letters ^ (kOnes * 0x7F);
        const std::uint64_t found = ((letters - kOnes * 0x20) & ~letters) | ((deletes - kOnes) & ~deletes);
        if ((found & kHighest) != 0)
            break;
        at += sizeof letters;
    }
    while (at < text.size() && !is_control(text[at]))
        ++at;
    return at;
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
