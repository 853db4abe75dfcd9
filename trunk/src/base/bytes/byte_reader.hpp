// Reads numbers and ranges from the front of borrowed bytes. Every read is checked: when the input is too short the reader
// returns Errc::need_more and does not advance, so callers never compute "remaining" by hand.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live {

class ByteReader {
public:
    explicit ByteReader(Bytes input) : input_(input) {}

    std::size_t position() const { return at_; }
    std::size_t remaining() const { return input_.size() - at_; }
    bool at_end() const { return at_ == input_.size(); }
    // All remaining bytes, without advancing.
    Bytes rest() const { return input_.subspan(at_); }

    Result<std::uint8_t> u8() { return big_endian<std::uint8_t, 1>(); }
    Result<std::uint16_t> u16be() { return big_endian<std::uint16_t, 2>(); }
    Result<std::uint32_t> u24be() { return big_endian<std::uint32_t, 3>(); }
    Result<std::uint32_t> u32be() { return big_endian<std::uint32_t, 4>(); }
    Result<std::uint64_t> u64be() { return big_endian<std::uint64_t, 8>(); }
    Result<std::uint32_t> u32le() {
        const auto value = big_endian<std::uint32_t, 4>();
        if (!value.ok())
            return value;
        return __builtin_bswap32(*value);
    }
    // An IEEE 754 double in network order.
    Result<double> f64be() {
        const auto bits = big_endian<std::uint64_t, 8>();
        if (!bits.ok())
            return Error(bits.error());
        return std::bit_cast<double>(*bits);
    }
    // The next `count` bytes, borrowed from the input.
    Result<Bytes> take(std::size_t count) {
        if (count > remaining())
            return short_by(count);
        at_ += count;
        return input_.subspan(at_ - count, count);
    }
    Result<void> skip(std::size_t count) {
        if (count > remaining())
            return short_by(count);
        at_ += count;
        return {};
    }
    // The next byte, without advancing.
    Result<std::uint8_t> peek_u8() const {
        if (remaining() < 1)
            return short_by(1);
        return input_[at_];
    }

private:
    template <class T, std::size_t Count>
    Result<T> big_endian() {
        if (Count > remaining())
            return short_by(Count);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < Count; ++i)
            value = value << 8 | input_[at_ + i];
        at_ += Count;
        return static_cast<T>(value);
    }
    [[gnu::cold]] Error short_by(std::size_t wanted) const;

    Bytes input_;
    std::size_t at_ = 0;
};

}  // namespace live
