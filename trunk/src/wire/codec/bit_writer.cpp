#include "wire/codec/bit_writer.hpp"

#include <algorithm>
#include <bit>

#include "base/check.hpp"

namespace live::wire::codec {

BitWriter& BitWriter::bits(std::uint32_t value, unsigned count) {
    CHECK(count <= 32);
    while (count > 0) {
        const auto used = static_cast<unsigned>(bits_ % 8);
        if (used == 0)
            bytes_.push_back(0);
        const unsigned take = std::min(8 - used, count);
        const std::uint32_t part = value >> (count - take) & ((1U << take) - 1);
        bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | part << (8 - used - take));
        bits_ += take;
        count -= take;
    }
    return *this;
}

BitWriter& BitWriter::ue(std::uint32_t value) {
    CHECK(value < 0xFFFF'FFFF);
    const auto length = static_cast<unsigned>(std::bit_width(value + 1));
    return bits(0, length - 1).bits(value + 1, length);
}

BitWriter& BitWriter::copy(Bytes source, std::size_t begin, std::size_t end) {
    CHECK(begin <= end && end <= source.size() * 8);
    for (; begin < end; ++begin)
        flag((source[begin / 8] >> (7 - begin % 8) & 1U) != 0);
    return *this;
}

BitWriter& BitWriter::trailing_bits() {
    flag(true);
    return bits(0, static_cast<unsigned>((8 - bits_ % 8) % 8));
}

std::vector<std::uint8_t> with_emulation_prevention(Bytes payload) {
    constexpr std::uint8_t kMarkMax = 3;
    std::vector<std::uint8_t> out;
    out.reserve(payload.size() + 8);
    int zeros = 0;
    for (const std::uint8_t byte : payload) {
        if (zeros >= 2 && byte <= kMarkMax) {
            out.push_back(kMarkMax);
            zeros = 0;
        }
        out.push_back(byte);
        zeros = byte == 0 ? zeros + 1 : 0;
    }
    return out;
}

}  // namespace live::wire::codec
