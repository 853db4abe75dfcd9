// Named AMF bytes and what they mean; shared by the tests of both codecs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/amf/value.hpp"

namespace live::wire::amf {

struct Vector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    Value value;
    bool canonical = true;  // write(value) gives these bytes again
};

// "4f 4b" -> two bytes.
inline std::vector<std::uint8_t> hex(std::string_view text) {
    std::vector<std::uint8_t> bytes;
    int digits = 0;
    unsigned byte = 0;
    for (const char letter : text) {
        if (letter == ' ')
            continue;
        byte = byte << 4 | static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
        if (++digits % 2 == 0)
            bytes.push_back(static_cast<std::uint8_t>(byte));
    }
    return bytes;
}

}  // namespace live::wire::amf
