// Appends numbers and ranges to a growing buffer that it owns. For fixed formats that are written occasionally (commands,
// headers); the wire logs write into slabs instead.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live {

class ByteWriter {
public:
    ByteWriter() = default;
    // Appends to `buffer`.
    explicit ByteWriter(std::vector<std::uint8_t> buffer) : buffer_(std::move(buffer)) {}

    ByteWriter& u8(std::uint8_t value) { return big_endian<1>(value); }
    ByteWriter& u16be(std::uint16_t value) { return big_endian<2>(value); }
    ByteWriter& u24be(std::uint32_t value) { return big_endian<3>(value); }
    ByteWriter& u32be(std::uint32_t value) { return big_endian<4>(value); }
    ByteWriter& u64be(std::uint64_t value) { return big_endian<8>(value); }
    ByteWriter& u32le(std::uint32_t value) { return big_endian<4>(__builtin_bswap32(value)); }
    ByteWriter& f64be(double value) { return big_endian<8>(std::bit_cast<std::uint64_t>(value)); }
    ByteWriter& bytes(Bytes value) {
        buffer_.insert(buffer_.end(), value.begin(), value.end());
        return *this;
    }
    ByteWriter& text(std::string_view value) { return bytes(as_bytes(value)); }
    ByteWriter& zeros(std::size_t count) {
        buffer_.insert(buffer_.end(), count, 0);
        return *this;
    }

    // Reserves space for `count` more bytes in one allocation.
    void reserve(std::size_t count) { buffer_.reserve(buffer_.size() + count); }
    std::size_t size() const { return buffer_.size(); }
    Bytes written() const { return buffer_; }
    // Overwrites bytes already written at `offset`; aborts when the range is out of bounds.
    void patch_u32be(std::size_t offset, std::uint32_t value);
    void patch_u24be(std::size_t offset, std::uint32_t value);
    std::vector<std::uint8_t> release() { return std::exchange(buffer_, {}); }

private:
    template <std::size_t Count>
    ByteWriter& big_endian(std::uint64_t value) {
        for (std::size_t i = Count; i-- > 0;)
            buffer_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
        return *this;
    }

    std::vector<std::uint8_t> buffer_;
};

}  // namespace live
