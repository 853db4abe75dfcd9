#include "wire/websocket/frame_head.hpp"

namespace live::wire::websocket {

namespace {

constexpr std::uint8_t kFinal = 0x80;
constexpr std::uint8_t kSixteenBits = 126;
constexpr std::uint8_t kSixtyFourBits = 127;

}  // namespace

FrameHead frame_head(std::uint64_t payload_bytes, Opcode opcode) {
    FrameHead head;
    const auto put = [&head](std::uint64_t value) { head.storage[head.size++] = static_cast<std::uint8_t>(value); };
    put(kFinal | static_cast<std::uint64_t>(opcode));
    unsigned more = 0;
    if (payload_bytes < kSixteenBits) {
        put(payload_bytes);
    } else if (payload_bytes <= 0xFFFF) {
        put(kSixteenBits);
        more = 2;
    } else {
        put(kSixtyFourBits);
        more = 8;
    }
    for (unsigned i = more; i-- > 0;)
        put(payload_bytes >> (8 * i));
    return head;
}

}  // namespace live::wire::websocket
