#include "wire/codec/video/sei.hpp"

#include <cstdint>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

// H.264 and HEVC, table D.1; decoding unit information is HEVC only and serves decoders of partial pictures (D.2.22).
constexpr std::uint32_t kBufferingPeriod = 0;
constexpr std::uint32_t kPictureTiming = 1;
constexpr std::uint32_t kFiller = 3;
constexpr std::uint32_t kDecodingUnitInfo = 130;

constexpr std::uint8_t kTrailingBits = 0x80;

bool is_timing(std::uint32_t type) {
    return type == kBufferingPeriod || type == kPictureTiming || type == kFiller || type == kDecodingUnitInfo;
}

// Any number of 255 bytes and one final byte.
Result<std::uint32_t> sum_of_bytes(ByteReader& in) {
    std::uint32_t sum = 0;
    for (;;) {
        const std::uint8_t byte = TRY(in.u8());
        sum += byte;
        if (byte != 0xFF)
            return sum;
    }
}

}  // namespace

Result<bool> is_timing_only_sei(Bytes nal, std::size_t header_bytes) {
    const auto plain = without_emulation_prevention(nal);
    ByteReader in(plain);
    TRY(in.skip(header_bytes));
    do {
        const std::uint32_t type = TRY(sum_of_bytes(in));
        const std::uint32_t size = TRY(sum_of_bytes(in));
        TRY(in.skip(size));
        if (!is_timing(type))
            return false;
    } while (in.remaining() > 1);
    if (TRY(in.u8()) != kTrailingBits)
        return Error(Errc::malformed, "an SEI message without its end");
    return true;
}

}  // namespace live::wire::codec
