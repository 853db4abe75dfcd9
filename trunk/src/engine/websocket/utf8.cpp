#include "engine/websocket/utf8.hpp"

#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"

namespace live::engine::websocket {

namespace {

// RFC 3629, 4: the bytes allowed after a first byte: their number, and the range of the first one.
struct Sequence {
    std::size_t more = 0;
    std::uint8_t low = 0x80;
    std::uint8_t high = 0xBF;
    bool legal = true;
};

Sequence sequence_of(std::uint8_t first) {
    if (first < 0x80)
        return {};
    if (first >= 0xC2 && first <= 0xDF)
        return {.more = 1};
    switch (first) {
        case 0xE0: return {.more = 2, .low = 0xA0};
        case 0xED: return {.more = 2, .high = 0x9F};
        case 0xF0: return {.more = 3, .low = 0x90};
        case 0xF4: return {.more = 3, .high = 0x8F};
        default: break;
    }
    if (first >= 0xE1 && first <= 0xEF)
        return {.more = 2};
    if (first >= 0xF1 && first <= 0xF3)
        return {.more = 3};
    return {.legal = false};
}

}  // namespace

bool is_utf8(std::string_view text) {
    Bytes rest = as_bytes(text);
    while (!rest.empty()) {
        const Sequence sequence = sequence_of(rest.front());
        if (!sequence.legal || rest.size() < 1 + sequence.more)
            return false;
        if (sequence.more > 0 && (rest[1] < sequence.low || rest[1] > sequence.high))
            return false;
        for (std::size_t i = 2; i <= sequence.more; ++i)
            if ((rest[i] & 0xC0) != 0x80)
                return false;
        rest = rest.subspan(1 + sequence.more);
    }
    return true;
}

}  // namespace live::engine::websocket
