#include "wire/codec/video/av1.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

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

// The fields of a sequence header that have been read so far.
struct Sequence {
    SpsInfo info;
    bool high_tier = false;
    bool is_reduced = false;  // reduced_still_picture_header
};

// AV1, 5.5.3 and 5.5.4; returns the bit length of the decoder model's delays, 0 without one.
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
Result<void> read_operating_points(BitReader& in, std::uint32_t delay_bits, Sequence& sequence) {
    const bool display_delays = TRY(in.flag());
    const auto count = TRY(in.bits(5)) + 1;
    for (std::uint32_t i = 0; i < count; ++i) {
        TRY(in.skip(12));
        const auto level = TRY(in.bits(5));
        const bool high_tier = level > 7 && TRY(in.flag());
        if (i == 0) {
            sequence.info.level = static_cast<std::uint8_t>(level);
            sequence.high_tier = high_tier;
        }
        if (delay_bits > 0 && TRY(in.flag()))
            TRY(in.skip(2 * delay_bits + 1));
        if (display_delays && TRY(in.flag()))
            TRY(in.skip(4));
    }
    return {};
}

// Reads up to and including the frame size.
Result<Sequence> read_sequence(BitReader& in) {
    Sequence sequence;
    SpsInfo& info = sequence.info;
    info.profile = static_cast<std::uint8_t>(TRY(in.bits(3)));
    TRY(in.skip(1));
    sequence.is_reduced = TRY(in.flag());
    if (sequence.is_reduced) {
        info.level = static_cast<std::uint8_t>(TRY(in.bits(5)));
    } else {
        const auto delay_bits = TRY(in.flag()) ? TRY(read_timing(in, info)) : 0;
        TRY(read_operating_points(in, delay_bits, sequence));
    }
    const auto width_bits = TRY(in.bits(4)) + 1;
    const auto height_bits = TRY(in.bits(4)) + 1;
    info.width = TRY(in.bits(width_bits)) + 1;
    info.height = TRY(in.bits(height_bits)) + 1;
    return sequence;
}

// AV1, 5.5.1, between the frame size and color_config.
Result<void> skip_tools(BitReader& in, bool is_reduced) {
    if (!is_reduced && TRY(in.flag()))  // frame_id_numbers_present_flag
        TRY(in.skip(4 + 3));
    TRY(in.skip(3));  // 128x128 blocks, filter intra, intra edge
    if (!is_reduced) {
        TRY(in.skip(4));  // interintra, masked and warped prediction, dual filter
        const bool has_order_hint = TRY(in.flag());
        if (has_order_hint)
            TRY(in.skip(2));
        // seq_choose_screen_content_tools, else seq_force_screen_content_tools; 2 means chosen per frame.
        const std::uint32_t screen_tools = TRY(in.flag()) ? 2 : TRY(in.bits(1));
        if (screen_tools > 0 && !TRY(in.flag()))
            TRY(in.skip(1));
        if (has_order_hint)
            TRY(in.skip(3));
    }
    return in.skip(3);  // superres, cdef, restoration
}

// AV1, 5.5.2, returned as the seven bits of a configuration record.
Result<std::uint8_t> read_color_config(BitReader& in, unsigned profile) {
    constexpr std::uint32_t kBt709 = 1;
    constexpr std::uint32_t kSrgb = 13;
    constexpr std::uint32_t kUnspecified = 2;
    const std::uint32_t high = TRY(in.bits(1));
    const std::uint32_t twelve = profile == 2 && high != 0 ? TRY(in.bits(1)) : 0;
    const std::uint32_t mono = profile == 1 ? 0 : TRY(in.bits(1));
    std::uint32_t primaries = kUnspecified;
    std::uint32_t transfer = kUnspecified;
    std::uint32_t matrix = kUnspecified;
    if (TRY(in.flag())) {
        primaries = TRY(in.bits(8));
        transfer = TRY(in.bits(8));
        matrix = TRY(in.bits(8));
    }
    std::uint32_t half_x = 1;
    std::uint32_t half_y = 1;
    std::uint32_t position = 0;
    if (primaries == kBt709 && transfer == kSrgb && matrix == 0 && mono == 0) {
        half_x = half_y = 0;
    } else {
        TRY(in.skip(1));  // color_range
        if (mono == 0 && profile != 0) {
            half_x = profile == 1 ? 0 : twelve == 0 ? 1 : TRY(in.bits(1));
            half_y = profile == 2 && twelve != 0 && half_x != 0 ? TRY(in.bits(1)) : 0;
        }
        if (mono == 0 && half_x != 0 && half_y != 0)
            position = TRY(in.bits(2));
    }
    return static_cast<std::uint8_t>(high << 6 | twelve << 5 | mono << 4 | half_x << 3 | half_y << 2 | position);
}

Result<Obu> find_sequence_header(Bytes obus) {
    ByteReader in(obus);
    for (int i = 0; !in.at_end(); ++i) {
        if (i == kObusMax)
            return Error(Errc::limit, "no AV1 sequence header among the first " + std::to_string(kObusMax) + " OBUs");
        const Obu obu = TRY(read_obu(in));
        if (obu.type == Obu::kSequenceHeader)
            return obu;
    }
    return Error(Errc::not_found, "no AV1 sequence header");
}

}  // namespace

Result<Obu> read_obu(ByteReader& in) {
    const Bytes input = in.rest();
    const std::size_t begin = in.position();
    const auto head = TRY(in.u8());
    if ((head & 0x80) != 0)
        return Error(Errc::malformed, "OBU with its forbidden bit set");
    if ((head & 4) != 0)
        TRY(in.skip(1));
    Obu obu;
    obu.type = head >> 3 & 0x0F;
    obu.has_size = (head & 2) != 0;
    const std::size_t size = obu.has_size ? TRY(read_leb128(in)) : in.remaining();
    obu.payload = TRY(in.take(size));
    obu.whole = input.first(in.position() - begin);
    return obu;
}

void write_obu(ByteWriter& out, const Obu& obu) {
    if (obu.has_size) {
        out.bytes(obu.whole);
        return;
    }
    out.u8(obu.whole[0] | 2);
    if ((obu.whole[0] & 4) != 0)
        out.u8(obu.whole[1]);
    std::size_t rest = obu.payload.size();
    for (; rest > 0x7F; rest >>= 7)
        out.u8(static_cast<std::uint8_t>(0x80 | (rest & 0x7F)));
    out.u8(static_cast<std::uint8_t>(rest)).bytes(obu.payload);
}

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
    BitReader in(TRY(find_sequence_header(obus)).payload);
    return TRY(read_sequence(in)).info;
}

Result<std::vector<std::uint8_t>> make_av1_config(Bytes obus) {
    const Obu header = TRY(find_sequence_header(obus));
    BitReader in(header.payload);
    const Sequence sequence = TRY(read_sequence(in));
    TRY(skip_tools(in, sequence.is_reduced));
    Av1Config config;
    config.profile = sequence.info.profile;
    config.level = sequence.info.level;
    config.high_tier = sequence.high_tier;
    config.color_bits = TRY(read_color_config(in, sequence.info.profile));
    config.obus = header.whole;
    ByteWriter out;
    write_av1_config(out, config);
    return out.release();
}

}  // namespace live::wire::codec
