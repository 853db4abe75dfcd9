#include "wire/codec/audio/aac.hpp"

#include <optional>
#include <string>

#include "wire/codec/bit_reader.hpp"
#include "wire/codec/bit_writer.hpp"

namespace live::wire::codec {

namespace {

constexpr std::uint8_t kSbr = 5;
constexpr std::uint8_t kParametricStereo = 29;
constexpr std::uint32_t kEscapeType = 31;
constexpr std::uint32_t kEscapeRate = 15;

Result<std::uint8_t> read_object_type(BitReader& in) {
    auto type = TRY(in.bits(5));
    if (type == kEscapeType)
        type = 32 + TRY(in.bits(6));
    return static_cast<std::uint8_t>(type);
}

Result<std::uint32_t> read_rate(BitReader& in) {
    const auto index = TRY(in.bits(4));
    if (index == kEscapeRate) {
        const auto rate = TRY(in.bits(24));
        if (rate == 0)
            return Error(Errc::malformed, "AAC sample rate of zero");
        return rate;
    }
    if (index >= kAacRates.size())
        return Error(Errc::malformed, "AAC sample rate index " + std::to_string(index) + " is reserved");
    return kAacRates[index];
}

// ISO/IEC 14496-3, table 1.19.
std::optional<std::uint8_t> channels_of(std::uint32_t configuration) {
    if (configuration <= 6)
        return static_cast<std::uint8_t>(configuration);
    switch (configuration) {
        case 7:
        case 12:
        case 14: return std::uint8_t{8};
        case 11: return std::uint8_t{7};
        case 13: return std::uint8_t{24};
        default: return std::nullopt;
    }
}

void write_rate(BitWriter& out, std::uint32_t rate) {
    for (std::uint32_t index = 0; index < kAacRates.size(); ++index)
        if (kAacRates[index] == rate) {
            out.bits(index, 4);
            return;
        }
    out.bits(kEscapeRate, 4).bits(rate, 24);
}

}  // namespace

Result<AudioSpecificConfig> parse_aac_config(Bytes bytes) {
    BitReader in(bytes);
    AudioSpecificConfig config;
    config.object_type = TRY(read_object_type(in));
    config.sample_rate = TRY(read_rate(in));
    const auto configuration = TRY(in.bits(4));
    const auto channels = channels_of(configuration);
    if (!channels)
        return Error(Errc::malformed, "AAC channel configuration " + std::to_string(configuration) + " is reserved");
    config.channels = *channels;
    config.output_rate = config.sample_rate;
    if (config.object_type == kSbr || config.object_type == kParametricStereo) {
        config.ps = config.object_type == kParametricStereo;
        config.sbr = true;
        config.output_rate = TRY(read_rate(in));
        config.object_type = TRY(read_object_type(in));
    }
    return config;
}

void write_aac_config(ByteWriter& out, const AudioSpecificConfig& config) {
    CHECK(config.object_type < kEscapeType && (config.channels <= 6 || config.channels == 8));
    BitWriter bits;
    if (config.sbr)
        bits.bits(config.ps ? kParametricStereo : kSbr, 5);
    else
        bits.bits(config.object_type, 5);
    write_rate(bits, config.sample_rate);
    bits.bits(config.channels == 8 ? 7 : config.channels, 4);
    if (config.sbr) {
        write_rate(bits, config.output_rate);
        bits.bits(config.object_type, 5);
    }
    bits.bits(0, 3);  // GASpecificConfig: 1,024 samples per frame, no core coder, no extension.
    out.bytes(bits.written());
}

}  // namespace live::wire::codec
