// Bytes written as text in tests and vectors: "4f 4b" is two bytes. Not for untrusted input: aborts on anything else.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.hpp"

namespace live {

// Pairs of [0-9a-f]; spaces between pairs are skipped.
inline std::vector<std::uint8_t> hex(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    bool half = false;
    for (const char letter : text) {
        if (letter == ' ')
            continue;
        const bool digit = letter >= '0' && letter <= '9';
        CHECK(digit || (letter >= 'a' && letter <= 'f'));
        const auto value = static_cast<std::uint8_t>(digit ? letter - '0' : letter - 'a' + 10);
        if (half)
            bytes.back() = static_cast<std::uint8_t>(bytes.back() << 4 | value);
        else
            bytes.push_back(value);
        half = !half;
    }
    CHECK(!half);
    return bytes;
}

}  // namespace live
