// The head of a box (ISO/IEC 14496-12, 4.2) in bytes that a peer or a crash may have made.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes/byte_reader.hpp"
#include "base/result.hpp"

namespace live::wire::mp4 {

struct BoxStart {
    static constexpr std::size_t kBytesMax = 16;

    std::uint32_t type = 0;  // four characters
    std::uint64_t size = 0;  // including the head
    std::size_t head_bytes = 8;
};

constexpr std::uint32_t box_type(std::string_view text) {
    std::uint32_t type = 0;
    for (const char letter : text)
        type = type << 8 | static_cast<std::uint8_t>(letter);
    return type;
}

// Errc::need_more, Errc::malformed. A box "to the end of the file" (size 0) is Errc::malformed: no recording has one.
inline Result<BoxStart> read_box_head_of(Bytes bytes) {
    constexpr std::uint32_t kLarge = 1;
    ByteReader in(bytes);
    BoxStart head;
    head.size = TRY(in.u32be());
    head.type = TRY(in.u32be());
    if (head.size == kLarge) {
        head.size = TRY(in.u64be());
        head.head_bytes = BoxStart::kBytesMax;
    }
    if (head.size < head.head_bytes)
        return Error(Errc::malformed, "a box that is shorter than its header");
    return head;
}

// Calls visit(type, content, whole box) for each box in the content of a box, until an error.
template <class Visit>
Result<void> each_box(Bytes bytes, Visit&& visit) {
    while (!bytes.empty()) {
        const BoxStart head = TRY(read_box_head_of(bytes));
        if (head.size > bytes.size())
            return Error(Errc::malformed, "a box that is longer than the one around it");
        const auto size = static_cast<std::size_t>(head.size);
        TRY(visit(head.type, bytes.subspan(head.head_bytes, size - head.head_bytes), bytes.first(size)));
        bytes = bytes.subspan(size);
    }
    return {};
}

}  // namespace live::wire::mp4
