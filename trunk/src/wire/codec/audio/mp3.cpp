#include "wire/codec/audio/mp3.hpp"

#include <array>
#include <string>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::codec {

namespace {

enum Version : std::uint8_t { kMpeg25 = 0, kReserved = 1, kMpeg2 = 2, kMpeg1 = 3 };

constexpr unsigned kLayer3 = 1;
constexpr unsigned kLayer2 = 2;
constexpr unsigned kMono = 3;
constexpr std::uint16_t kSamples = 1'152;
constexpr std::uint16_t kSamplesLowRate = 576;

// kbit/s by index; 0 is the free format.
constexpr std::array<std::uint16_t, 15> kBitRates = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
constexpr std::array<std::uint16_t, 15> kBitRatesLowRate = {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160};
constexpr std::array<std::uint16_t, 15> kBitRatesLayer2 = {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384};
constexpr std::array<std::uint32_t, 3> kRates = {44'100, 48'000, 32'000};

}  // namespace

Result<Mp3Header> parse_mp3_header(Bytes bytes) {
    const auto header = TRY(parse_mpeg_audio_header(bytes));
    if (header.layer != 3)
        return Error(Errc::unsupported, "MPEG audio of layer " + std::to_string(header.layer));
    return header;
}

Result<Mp3Header> parse_mpeg_audio_header(Bytes bytes) {
    ByteReader in(bytes);
    const unsigned word = TRY(in.u32be());
    if (word >> 21 != 0x7FF)
        return Error(Errc::malformed, "no MPEG audio sync word");
    const unsigned version = word >> 19 & 3;
    const unsigned layer = word >> 17 & 3;
    if (version == kReserved || layer == 0)
        return Error(Errc::malformed, "a reserved version or layer of MPEG audio");
    if (layer != kLayer3 && layer != kLayer2)
        return Error(Errc::unsupported, "MPEG audio of layer " + std::to_string(4 - layer));
    const unsigned bit_rate = word >> 12 & 0xF;
    const unsigned rate = word >> 10 & 3;
    if (bit_rate >= kBitRates.size() || rate >= kRates.size())
        return Error(Errc::malformed, "a reserved bit rate or sample rate of MPEG audio");
    if (bit_rate == 0)
        return Error(Errc::unsupported, "MPEG audio in the free format");
    const bool is_low = version != kMpeg1;
    Mp3Header header;
    header.sample_rate = kRates[rate] / (version == kMpeg25 ? 4 : is_low ? 2 : 1);
    header.layer = static_cast<std::uint8_t>(4 - layer);
    const auto& rates = is_low ? kBitRatesLowRate : layer == kLayer3 ? kBitRates : kBitRatesLayer2;
    header.bit_rate = rates[bit_rate] * 1'000U;
    header.samples = is_low && layer == kLayer3 ? kSamplesLowRate : kSamples;
    header.channels = (word >> 6 & 3) == kMono ? 1 : 2;
    const unsigned padding = word >> 9 & 1;
    header.frame_bytes = header.samples / 8U * header.bit_rate / header.sample_rate + padding;
    return header;
}

}  // namespace live::wire::codec
