#include "wire/codec/audio/ac3.hpp"

#include <array>
#include <string>

#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

constexpr std::uint32_t kSync = 0x0B77;
constexpr std::uint16_t kSamplesOfBlock = 256;
constexpr std::uint32_t kRateReserved = 3;
constexpr std::array<std::uint32_t, 3> kRates = {48'000, 44'100, 32'000};
// kbit/s by half of frmsizecod (A/52, table 5.18).
constexpr std::array<std::uint16_t, 19> kBitRates = {32,  40,  48,  56,  64,  80,  96,  112, 128, 160,
                                                     192, 224, 256, 320, 384, 448, 512, 576, 640};

// A/52, 5.4.1.
Result<Ac3Header> read_plain(BitReader& in, std::uint32_t stream_id) {
    TRY(in.skip(16));  // crc1
    const auto rate = TRY(in.bits(2));
    const auto size = TRY(in.bits(6));
    if (rate == kRateReserved || size / 2 >= kBitRates.size())
        return Error(Errc::malformed, "a reserved sample rate or frame size of AC-3");
    // Half and quarter rates by practice: stream ids 9 and 10.
    const unsigned shift = stream_id > 8 ? stream_id - 8 : 0;
    Ac3Header header;
    header.sample_rate = kRates[rate] >> shift;
    header.samples = 6 * kSamplesOfBlock;
    // Words of two bytes in 1,536 samples; at 44,100 Hz the lowest bit adds one.
    std::size_t words = kBitRates[size / 2] * 96'000U / kRates[rate];
    if (kRates[rate] == 44'100)
        words += size % 2;
    header.frame_bytes = 2 * words;
    return header;
}

// A/52, E.1.2.2.
Result<Ac3Header> read_enhanced(BitReader& in) {
    constexpr std::array<std::uint16_t, 4> kBlocks = {1, 2, 3, 6};
    constexpr std::uint32_t kIndependent = 0;
    constexpr std::uint32_t kConverted = 2;
    const auto type = TRY(in.bits(2));
    const auto substream = TRY(in.bits(3));
    const auto words = TRY(in.bits(11)) + 1;
    const auto rate = TRY(in.bits(2));
    const auto blocks = TRY(in.bits(2));
    if (rate == kRateReserved && blocks == kRateReserved)
        return Error(Errc::malformed, "a reserved sample rate of E-AC-3");
    Ac3Header header;
    header.enhanced = true;
    header.continues = (type != kIndependent && type != kConverted) || substream != 0;
    header.frame_bytes = std::size_t{2} * words;
    header.sample_rate = rate == kRateReserved ? kRates[blocks] / 2 : kRates[rate];
    header.samples = rate == kRateReserved ? 6 * kSamplesOfBlock : kBlocks[blocks] * kSamplesOfBlock;
    return header;
}

}  // namespace

Result<Ac3Header> parse_ac3_header(Bytes bytes) {
    constexpr std::size_t kHeaderBytes = 6;
    BitReader in(bytes);
    if (TRY(in.bits(16)) != kSync)
        return Error(Errc::malformed, "no AC-3 sync word");
    if (bytes.size() < kHeaderBytes)
        return Error(Errc::need_more, "an AC-3 header of " + std::to_string(bytes.size()) + " bytes");
    // The stream id is at the same place in both forms.
    const std::uint32_t stream_id = bytes[5] >> 3;
    if (stream_id > 16)
        return Error(Errc::unsupported, "AC-3 of bit stream id " + std::to_string(stream_id));
    auto header = stream_id > 10 ? TRY(read_enhanced(in)) : TRY(read_plain(in, stream_id));
    if (header.frame_bytes < kHeaderBytes)
        return Error(Errc::malformed, "an AC-3 frame of " + std::to_string(header.frame_bytes) + " bytes");
    return header;
}

}  // namespace live::wire::codec
