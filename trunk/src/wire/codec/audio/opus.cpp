#include "wire/codec/audio/opus.hpp"

#include <array>
#include <string>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::codec {

namespace {

constexpr std::string_view kMagic = "OpusHead";

Result<std::uint16_t> u16le(ByteReader& in) { return __builtin_bswap16(TRY(in.u16be())); }

constexpr std::uint32_t kOpusSamplesMax = 5'760;

// RFC 6716, table 2: SILK in groups of four configurations, hybrid in two, CELT in four.
std::uint32_t samples_of_frame(unsigned configuration) {
    constexpr std::array<std::uint32_t, 4> kSilk{480, 960, 1'920, 2'880};
    constexpr std::array<std::uint32_t, 2> kHybrid{480, 960};
    constexpr std::array<std::uint32_t, 4> kCelt{120, 240, 480, 960};
    if (configuration < 12)
        return kSilk[configuration % 4];
    if (configuration < 16)
        return kHybrid[configuration % 2];
    return kCelt[configuration % 4];
}

struct Layout {
    std::uint8_t streams;
    std::uint8_t coupled;
    std::array<std::uint8_t, 8> mapping;
};
// RFC 7845, 5.1.1.2, by the number of channels minus one.
constexpr std::array<Layout, 8> kLayouts{{{1, 0, {0}},
                                          {1, 1, {0, 1}},
                                          {2, 1, {0, 2, 1}},
                                          {2, 2, {0, 1, 2, 3}},
                                          {3, 2, {0, 4, 1, 2, 3}},
                                          {4, 2, {0, 4, 1, 2, 3, 5}},
                                          {4, 3, {0, 4, 1, 2, 3, 5, 6}},
                                          {5, 3, {0, 6, 1, 2, 3, 4, 5, 7}}}};

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

Result<std::vector<std::uint8_t>> make_opus_head(unsigned channels) {
    if (channels == 0 || channels > kLayouts.size())
        return Error(Errc::unsupported, "Opus of " + std::to_string(channels) + " channels");
    const Layout& layout = kLayouts[channels - 1];
    OpusHead head;
    head.channels = static_cast<std::uint8_t>(channels);
    head.mapping_family = channels > 2 ? 1 : 0;
    head.streams = layout.streams;
    head.coupled = layout.coupled;
    head.mapping = Bytes(layout.mapping).first(channels);
    ByteWriter out;
    write_opus_head(out, head);
    return out.release();
}

Result<std::uint32_t> opus_samples(Bytes packet) {
    ByteReader in(packet);
    const unsigned head = TRY(in.u8());
    std::uint32_t frames = (head & 3U) == 0 ? 1 : 2;
    if ((head & 3U) == 3)
        frames = TRY(in.u8()) & 0x3FU;
    const std::uint32_t samples = frames * samples_of_frame(head >> 3);
    if (samples == 0 || samples > kOpusSamplesMax)
        return Error(Errc::malformed, "Opus packet of " + std::to_string(samples) + " samples");
    return samples;
}

}  // namespace live::wire::codec
