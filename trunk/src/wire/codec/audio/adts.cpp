#include "wire/codec/audio/adts.hpp"

#include <algorithm>
#include <string>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::codec {

namespace {

constexpr std::uint8_t kProfilesMax = 4;  // object types 1 to 4, in two bits
constexpr std::uint8_t kConfigurationOfEight = 7;
constexpr std::uint16_t kFullnessUnknown = 0x7FF;  // signals a variable bit rate
constexpr std::size_t kChecksumBytes = 2;

}  // namespace

Result<std::array<std::uint8_t, kAdtsHeaderBytes>> adts_header(const AudioSpecificConfig& config, std::size_t frame_bytes) {
    if (config.object_type < 1 || config.object_type > kProfilesMax)
        return Error(Errc::unsupported, "ADTS cannot carry AAC object type " + std::to_string(config.object_type));
    const auto* const rate = std::ranges::find(kAacRates, config.sample_rate);
    if (rate == kAacRates.end())
        return Error(Errc::unsupported, "ADTS cannot carry " + std::to_string(config.sample_rate) + " Hz");
    if (config.channels < 1 || (config.channels > 6 && config.channels != 8))
        return Error(Errc::unsupported, "ADTS cannot carry " + std::to_string(config.channels) + " channels");
    if (frame_bytes > kAdtsFrameBytesMax - kAdtsHeaderBytes)
        return Error(Errc::limit, "AAC frame of " + std::to_string(frame_bytes) + " bytes");
    const auto profile = config.object_type - 1U;
    const auto rate_index = static_cast<unsigned>(rate - kAacRates.begin());
    const unsigned channels = config.channels == 8 ? kConfigurationOfEight : config.channels;
    const auto length = static_cast<unsigned>(frame_bytes + kAdtsHeaderBytes);
    // Sync word; MPEG-4, layer 0, no checksum. The last two bits (number of blocks minus one) are 0: one block.
    return std::array<std::uint8_t, kAdtsHeaderBytes>{
        0xFF,
        0xF1,
        static_cast<std::uint8_t>(profile << 6 | rate_index << 2 | channels >> 2),
        static_cast<std::uint8_t>(channels << 6 | length >> 11),
        static_cast<std::uint8_t>(length >> 3),
        static_cast<std::uint8_t>(length << 5 | kFullnessUnknown >> 6),
        static_cast<std::uint8_t>(kFullnessUnknown << 2),
    };
}

Result<AdtsHeader> parse_adts_header(Bytes bytes) {
    ByteReader in(bytes);
    const auto sync = TRY(in.u16be());
    if ((sync & 0xFFF6) != 0xFFF0)
        return Error(Errc::malformed, "no ADTS sync word");
    const bool has_checksum = (sync & 1) == 0;
    const unsigned what = TRY(in.u16be());
    const unsigned middle = TRY(in.u8());
    const unsigned rest = TRY(in.u16be());
    AdtsHeader header;
    header.config.object_type = static_cast<std::uint8_t>((what >> 14) + 1);
    const unsigned rate_index = what >> 10 & 0xF;
    if (rate_index >= kAacRates.size())
        return Error(Errc::malformed, "ADTS sample rate index " + std::to_string(rate_index) + " is reserved");
    header.config.sample_rate = header.config.output_rate = kAacRates[rate_index];
    const unsigned channels = what >> 6 & 7;
    header.config.channels = static_cast<std::uint8_t>(channels == kConfigurationOfEight ? 8 : channels);
    header.blocks = static_cast<std::uint8_t>((rest & 3) + 1);
    header.header_bytes = kAdtsHeaderBytes + (has_checksum ? kChecksumBytes : 0);
    const std::size_t whole = (what & 3) << 11 | middle << 3 | rest >> 13;
    if (whole < header.header_bytes)
        return Error(Errc::malformed, "ADTS frame of " + std::to_string(whole) + " bytes");
    header.frame_bytes = whole - header.header_bytes;
    return header;
}

Result<AdtsFrame> read_adts_frame(ByteReader& in) {
    const auto header = TRY(parse_adts_header(in.rest()));
    if (header.blocks > 1)
        return Error(Errc::unsupported, "an ADTS frame of " + std::to_string(header.blocks) + " blocks");
    const Bytes whole = TRY(in.take(header.header_bytes + header.frame_bytes));
    return AdtsFrame{header, whole.subspan(header.header_bytes)};
}

}  // namespace live::wire::codec
