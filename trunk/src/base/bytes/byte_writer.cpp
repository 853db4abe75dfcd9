#include "base/bytes/byte_writer.hpp"

namespace live {

void ByteWriter::patch_u32be(std::size_t offset, std::uint32_t value) {
    CHECK(offset <= buffer_.size() && 4 <= buffer_.size() - offset);
    for (std::size_t i = 0; i < 4; ++i)
        buffer_[offset + i] = static_cast<std::uint8_t>(value >> (8 * (3 - i)));
}

void ByteWriter::patch_u24be(std::size_t offset, std::uint32_t value) {
    CHECK(offset <= buffer_.size() && 3 <= buffer_.size() - offset);
    for (std::size_t i = 0; i < 3; ++i)
        buffer_[offset + i] = static_cast<std::uint8_t>(value >> (8 * (2 - i)));
}

}  // namespace live
