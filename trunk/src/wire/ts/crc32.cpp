#include "wire/ts/crc32.hpp"

#include <array>

namespace live::wire::ts {

namespace {

constexpr std::uint32_t kPolynomial = 0x04C1'1DB7;
constexpr std::uint32_t kTopBit = 0x8000'0000;

constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte << 24;
        for (int bit = 0; bit < 8; ++bit)
            rest = (rest & kTopBit) != 0 ? rest << 1 ^ kPolynomial : rest << 1;
        table[byte] = rest;
    }
    return table;
}();

}  // namespace

std::uint32_t crc32_mpeg2(Bytes bytes) {
    std::uint32_t crc = 0xFFFF'FFFF;
    for (const std::uint8_t byte : bytes)
        crc = crc << 8 ^ kTable[crc >> 24 ^ byte];
    return crc;
}

}  // namespace live::wire::ts
