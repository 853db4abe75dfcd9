// Writes single bits, most significant first, and the Exp-Golomb codes of H.264 and HEVC (H.264, 9.1); the inverse of
// bit_reader.hpp. Also inserts emulation prevention bytes into a NAL unit, which must happen after its bits are written.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::wire::codec {

class BitWriter {
public:
    std::size_t size_bits() const { return bits_; }

    // The lowest `count` bits of `value`, at most 32.
    BitWriter& bits(std::uint32_t value, unsigned count);
    BitWriter& flag(bool value) { return bits(value ? 1 : 0, 1); }
    // Unsigned Exp-Golomb; below 2^32 - 1.
    BitWriter& ue(std::uint32_t value);
    // Copies the bits [begin, end) of `source`, which must contain them.
    BitWriter& copy(Bytes source, std::size_t begin, std::size_t end);
    // The stop bit of a payload, and zeros up to a whole byte (H.264, 7.3.2.11).
    BitWriter& trailing_bits();

    Bytes written() const { return bytes_; }

private:
    std::vector<std::uint8_t> bytes_;  // unwritten bits of the last byte are zero
    std::size_t bits_ = 0;
};

// The NAL unit with its emulation prevention bytes: a 03 is inserted between 00 00 and a byte up to 03 (H.264, 7.4.1; HEVC,
// 7.4.2.1). `payload` begins with the header and ends with trailing_bits().
std::vector<std::uint8_t> with_emulation_prevention(Bytes payload);

}  // namespace live::wire::codec
