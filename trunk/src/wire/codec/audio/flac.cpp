#include "wire/codec/audio/flac.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {

namespace {

constexpr std::string_view kStreamMarker = "fLaC";
constexpr std::size_t kFrameSizesBits = 48;

// Errc::malformed when it is not the header of a STREAMINFO block.
Result<void> skip_block_header(ByteReader& in) {
    constexpr std::uint8_t kTypeMask = 0x7F;
    if ((TRY(in.u8()) & kTypeMask) != 0)
        return Error(Errc::malformed, "the first FLAC block is not STREAMINFO");
    if (TRY(in.u24be()) != kFlacStreamInfoBytes)
        return Error(Errc::malformed, "a STREAMINFO block of another length than 34 bytes");
    return {};
}

}  // namespace

Result<FlacStreamInfo> parse_flac_stream_info(Bytes bytes) {
    ByteReader in(bytes);
    const bool has_magic = bytes.size() >= kStreamMarker.size() && as_text(bytes.first(kStreamMarker.size())) == kStreamMarker;
    if (has_magic)
        TRY(in.skip(kStreamMarker.size()));
    // A block without a header has exactly the fixed length.
    if (has_magic || bytes.size() != kFlacStreamInfoBytes)
        TRY(skip_block_header(in));
    FlacStreamInfo info;
    info.block = TRY(in.take(kFlacStreamInfoBytes));
    BitReader bits(info.block);
    info.block_samples_min = static_cast<std::uint16_t>(TRY(bits.bits(16)));
    info.block_samples_max = static_cast<std::uint16_t>(TRY(bits.bits(16)));
    TRY(bits.skip(kFrameSizesBits));
    info.sample_rate = TRY(bits.bits(20));
    info.channels = static_cast<std::uint8_t>(TRY(bits.bits(3)) + 1);
    info.sample_bits = static_cast<std::uint8_t>(TRY(bits.bits(5)) + 1);
    if (info.sample_rate == 0)
        return Error(Errc::malformed, "FLAC with a sample rate of zero");
    return info;
}

}  // namespace live::wire::codec
