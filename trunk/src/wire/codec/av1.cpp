#include "wire/codec/av1.hpp"

#include <string>

#include "base/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

constexpr std::uint8_t kSequenceHeader = 1;
constexpr int kObusMax = 16;

// AV1, 4.10.5 "leb128".
Result<std::size_t> read_leb128(ByteReader& in) {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
        const auto byte = TRY(in.u8());
        value |= std::uint64_t{byte & 0x7FU} << (7 * i);
        if ((byte & 0x80) == 0) {
            if (value > 0xFFFF'FFFF)
                return Error(Errc::malformed, "OBU size above 32 bits");
            return static_cast<std::size_t>(value);
        }
    }
    return Error(Errc::malformed, "OBU size of more than 8 bytes");
}

// AV1, 5.5.3 and 5.5.4; gives the length of the decoder model's delays, 0 without one.
Result<std::uint32_t> read_timing(BitReader& in, SpsInfo& info) {
    const auto units = TRY(in.bits(32));
    const auto scale = TRY(in.bits(32));
    if (TRY(in.flag())) {
        const double ticks = TRY(in.ue()) + 1.0;
        if (units != 0 && scale != 0)
            info.frames_per_second = scale / (units * ticks);
    }
    if (!TRY(in.flag()))
        return std::uint32_t{0};
    const auto delay_bits = TRY(in.bits(5)) + 1;
    TRY(in.skip(32 + 5 + 5));
    return delay_bits;
}

// AV1, 5.5.1, the list of operating points.
Result<void> read_operating_points(BitReader& in, std::uint32_t delay_bits, SpsInfo& info) {
    const bool display_delays = TRY(in.flag());
    const auto count = TRY(in.bits(5)) + 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        TRY(in.skip(12));
        const auto level = TRY(in.bits(5));
        if (i == 0)
            info.level = static_cast<std::uint8_t>(level);
        if (level > 7)
            TRY(in.skip(1));
        if (delay_bits > 0 && TRY(in.flag()))
            TRY(in.skip(2 * delay_bits + 1));
        if (display_delays && TRY(in.flag()))
            TRY(in.skip(4));
    }
    return {};
}

Result<SpsInfo> read_sequence_header(Bytes payload) {
    BitReader in(payload);
    SpsInfo info;
    info.profile = static_cast<std::uint8_t>(TRY(in.bits(3)));
    TRY(in.skip(1));
    if (TRY(in.flag())) {  // reduced_still_picture_header
        info.level = static_cast<std::uint8_t>(TRY(in.bits(5)));
    } else {
        const auto delay_bits = TRY(in.flag()) ? TRY(read_timing(in, info)) : 0;
        TRY(read_operating_points(in, delay_bits, info));
    }
    const auto width_bits = TRY(in.bits(4)) + 1;
    const auto height_bits = TRY(in.bits(4)) + 1;
    info.width = TRY(in.bits(width_bits)) + 1;
    info.height = TRY(in.bits(height_bits)) + 1;
    return info;
}

}  // namespace

Result<Av1Config> parse_av1_config(Bytes record) {
    ByteReader in(record);
    const auto version = TRY(in.u8());
    if ((version & 0x80) == 0)
        return Error(Errc::malformed, "AV1 configuration without its marker bit");
    if ((version & 0x7F) != 1)
        return Error(Errc::unsupported, "AV1 configuration version " + std::to_string(version & 0x7F));
    Av1Config config;
    const auto profile = TRY(in.u8());
    config.profile = profile >> 5;
    config.level = profile & 0x1F;
    const auto color = TRY(in.u8());
    config.high_tier = (color & 0x80) != 0;
    config.color_bits = color & 0x7F;
    config.delay = TRY(in.u8()) & 0x1F;
    config.obus = in.rest();
    return config;
}

void write_av1_config(ByteWriter& out, const Av1Config& config) {
    out.u8(0x81).u8(static_cast<std::uint8_t>(config.profile << 5 | config.level));
    out.u8(static_cast<std::uint8_t>((config.high_tier ? 0x80 : 0) | config.color_bits)).u8(config.delay).bytes(config.obus);
}

Result<SpsInfo> parse_av1_sequence_header(Bytes obus) {
    ByteReader in(obus);
    for (int i = 0; !in.at_end(); ++i) {
        if (i == kObusMax)
            return Error(Errc::limit, "no AV1 sequence header among the first " + std::to_string(kObusMax) + " OBUs");
        const auto head = TRY(in.u8());
        if ((head & 0x80) != 0)
            return Error(Errc::malformed, "OBU with its forbidden bit set");
        if ((head & 4) != 0)
            TRY(in.skip(1));
        const std::size_t size = (head & 2) != 0 ? TRY(read_leb128(in)) : in.remaining();
        const Bytes payload = TRY(in.take(size));
        if ((head >> 3 & 0x0F) == kSequenceHeader)
            return read_sequence_header(payload);
    }
    return Error(Errc::not_found, "no AV1 sequence header");
}

}  // namespace live::wire::codec
