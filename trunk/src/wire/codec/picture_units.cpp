#include "wire/codec/picture_units.hpp"

#include "base/byte_reader.hpp"
#include "wire/codec/av1.hpp"
#include "wire/codec/vp9.hpp"

namespace live::wire::codec {

namespace {

Result<Bytes> read_unit(ByteReader& in, std::uint8_t length_size) {
    std::size_t length = 0;
    for (std::uint8_t i = 0; i < length_size; ++i)
        length = length << 8 | TRY(in.u8());
    return in.take(length);
}

// H.264, table 7-1; H.265, table 7-1.
unsigned type_of(Codec codec, Bytes unit) { return codec == Codec::avc ? unit[0] & 0x1FU : unit[0] >> 1 & 0x3FU; }

bool is_random_access_type(Codec codec, unsigned type) {
    constexpr unsigned kAvcIdr = 5;
    constexpr unsigned kHevcFirst = 16;
    constexpr unsigned kHevcLast = 23;
    return codec == Codec::avc ? type == kAvcIdr : type >= kHevcFirst && type <= kHevcLast;
}

bool has_random_access_unit(Codec codec, std::uint8_t length_size, Bytes frame) {
    for (ByteReader in(frame); !in.at_end();) {
        const auto unit = read_unit(in, length_size);
        if (!unit.ok())
            return false;
        if (!unit->empty() && is_random_access_type(codec, type_of(codec, *unit)))
            return true;
    }
    return false;
}

bool has_sequence_header(Bytes frame) {
    for (ByteReader in(frame); !in.at_end();) {
        const auto obu = read_obu(in);
        if (!obu.ok())
            return false;
        if (obu->type == Obu::kSequenceHeader)
            return true;
    }
    return false;
}

}  // namespace

bool is_random_access(Codec codec, std::uint8_t length_size, Bytes frame) {
    switch (codec) {
        case Codec::avc:
        case Codec::hevc: return has_random_access_unit(codec, length_size, frame);
        case Codec::av1: return has_sequence_header(frame);
        case Codec::vp8: return !frame.empty() && (frame[0] & 1U) == 0;  // RFC 6386, 9.1
        case Codec::vp9: return parse_vp9_key_frame(frame).ok();
        default: return false;
    }
}

}  // namespace live::wire::codec
