#include "wire/codec/opus.hpp"

#include <string>

#include "base/byte_reader.hpp"

namespace live::wire::codec {

namespace {

constexpr std::string_view kMagic = "OpusHead";

Result<std::uint16_t> u16le(ByteReader& in) { return __builtin_bswap16(TRY(in.u16be())); }

}  // namespace

Result<OpusHead> parse_opus_head(Bytes bytes) {
    ByteReader in(bytes);
    if (as_text(TRY(in.take(kMagic.size()))) != kMagic)
        return Error(Errc::malformed, "the Opus header does not begin with OpusHead");
    OpusHead head;
    head.version = TRY(in.u8());
    if (head.version > 15)
        return Error(Errc::unsupported, "Opus header version " + std::to_string(head.version));
    head.channels = TRY(in.u8());
    if (head.channels == 0)
        return Error(Errc::malformed, "Opus without channels");
    head.pre_skip = TRY(u16le(in));
    head.input_rate = TRY(in.u32le());
    head.gain = static_cast<std::int16_t>(TRY(u16le(in)));
    head.mapping_family = TRY(in.u8());
    if (head.mapping_family == 0) {
        if (head.channels > 2)
            return Error(Errc::malformed, "Opus family 0 with " + std::to_string(head.channels) + " channels");
        head.streams = 1;
        head.coupled = head.channels == 2 ? 1 : 0;
        return head;
    }
    head.streams = TRY(in.u8());
    head.coupled = TRY(in.u8());
    if (head.streams == 0 || head.coupled > head.streams)
        return Error(Errc::malformed, "Opus with " + std::to_string(head.streams) + " streams, " + std::to_string(head.coupled) +
                                          " of them coupled");
    head.mapping = TRY(in.take(head.channels));
    return head;
}

void write_opus_head(ByteWriter& out, const OpusHead& head) {
    out.text(kMagic).u8(head.version).u8(head.channels).u16be(__builtin_bswap16(head.pre_skip)).u32le(head.input_rate);
    out.u16be(__builtin_bswap16(static_cast<std::uint16_t>(head.gain))).u8(head.mapping_family);
    if (head.mapping_family != 0)
        out.u8(head.streams).u8(head.coupled).bytes(head.mapping);
}

}  // namespace live::wire::codec
