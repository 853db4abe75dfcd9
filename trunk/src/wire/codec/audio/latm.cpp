#include "wire/codec/audio/latm.hpp"

#include <string>
#include <utility>

namespace live::wire::codec {

namespace {

constexpr std::uint16_t kSync = 0x2B7;  // eleven bits

// ISO/IEC 14496-3, 1.7.3.1: LatmGetValue().
Result<std::uint32_t> read_value(BitReader& in) {
    const auto bytes = TRY(in.bits(2)) + 1;
    return in.bits(8 * bytes);
}

std::size_t position(const BitReader& in, Bytes element) { return element.size() * 8 - in.remaining(); }

// The bits [begin, end), which `from` contains, with zeros up to a whole byte.
std::vector<std::uint8_t> copy_bits(Bytes from, std::size_t begin, std::size_t end) {
    std::vector<std::uint8_t> out((end - begin + 7) / 8);
    const auto shift = static_cast<unsigned>(begin % 8);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t at = begin / 8 + i;
        const unsigned two = static_cast<unsigned>(from[at]) << 8 | (at + 1 < from.size() ? from[at + 1] : 0U);
        out[i] = static_cast<std::uint8_t>(two >> (8 - shift));
    }
    const auto unused = static_cast<unsigned>(out.size() * 8 - (end - begin));
    if (unused > 0)
        out.back() = static_cast<std::uint8_t>(out.back() >> unused << unused);
    return out;
}

// GASpecificConfig (4.4.1), which follows the first fields of the configuration for some object types.
Result<void> skip_general(BitReader& in, const AudioSpecificConfig& config) {
    if (config.object_type < 1 || config.object_type > 4)
        return Error(Errc::unsupported, "AAC object type " + std::to_string(config.object_type) + " in LATM");
    if (config.channels == 0)
        return Error(Errc::unsupported, "AAC in LATM whose channels are in its configuration");
    TRY(in.skip(1));  // frameLengthFlag
    if (TRY(in.flag()))
        TRY(in.skip(14));  // coreCoderDelay
    if (TRY(in.flag()))    // extensionFlag: nothing follows for these object types
        TRY(in.skip(1));
    return {};
}

// The fields before GASpecificConfig, as parse_aac_config reads them.
Result<void> skip_head(BitReader& in) {
    constexpr std::uint32_t kSbr = 5;
    constexpr std::uint32_t kParametricStereo = 29;
    constexpr std::uint32_t kEscapeType = 31;
    constexpr std::uint32_t kEscapeRate = 15;
    const auto skip_rate = [&in]() -> Result<void> { return TRY(in.bits(4)) == kEscapeRate ? in.skip(24) : Result<void>(); };
    const auto type = TRY(in.bits(5));
    if (type == kEscapeType)
        return Error(Errc::unsupported, "an AAC object type above 31 in LATM");
    TRY(skip_rate());
    TRY(in.skip(4));
    if (type != kSbr && type != kParametricStereo)
        return {};
    TRY(skip_rate());
    return in.skip(5);
}

// Skips the extension for SBR (1.6.5.2), if it follows: encoders state in it that there is no SBR.
Result<void> skip_extension(BitReader& in) {
    constexpr std::uint32_t kExtensionSync = 0x2B7;
    constexpr std::uint32_t kSbr = 5;
    constexpr std::uint32_t kEscapeRate = 15;
    BitReader ahead = in;
    const auto sync = ahead.bits(11);
    if (!sync.ok() || *sync != kExtensionSync)
        return {};
    const bool has_sbr = TRY(ahead.bits(5)) == kSbr && TRY(ahead.flag());
    if (has_sbr && TRY(ahead.bits(4)) == kEscapeRate)
        TRY(ahead.skip(24));
    in = ahead;
    return {};
}

}  // namespace

Result<void> LatmReader::read(ByteReader& in, std::vector<Slice>& frames) {
    ByteReader ahead = in;
    const auto head = TRY(ahead.u24be());
    if (head >> 13 != kSync)
        return Error(Errc::malformed, "no LOAS sync word");
    const Bytes element = TRY(ahead.take(head & 0x1FFF));
    in = ahead;
    return read_element(element, frames);
}

// AudioMuxElement(1), 1.7.3.1.
Result<void> LatmReader::read_element(Bytes element, std::vector<Slice>& frames) {
    BitReader in(element);
    if (!TRY(in.flag())) {
        const auto read = read_mux_config(in, element);
        if (!read.ok()) {
            config_.clear();  // the elements after it refer to it, and not to the one before
            return read.error();
        }
    }
    return read_payloads(in, element, frames);
}

Result<void> LatmReader::set_config(Bytes stream_mux_config) {
    BitReader in(stream_mux_config);
    auto read = read_mux_config(in, stream_mux_config);
    // Some senders leave out the fields behind the AudioSpecificConfig, without which the frames can be read.
    return !read.ok() && read.code() == Errc::need_more && !config_.empty() ? Result<void>() : std::move(read);
}

// AudioMuxElement(0).
Result<void> LatmReader::read_payloads(Bytes element, std::vector<Slice>& frames) const {
    BitReader in(element);
    return read_payloads(in, element, frames);
}

Result<void> LatmReader::read_payloads(BitReader& in, Bytes element, std::vector<Slice>& frames) const {
    constexpr std::uint32_t kMore = 255;
    if (config_.empty())
        return Error(Errc::not_found, "LATM before its configuration");
    for (unsigned i = 0; i < subframes_; ++i) {
        std::size_t bytes = 0;
        for (std::uint32_t part = kMore; part == kMore; bytes += part)
            part = TRY(in.bits(8));
        const std::size_t begin = position(in, element);
        TRY(in.skip(bytes * 8));
        if (bytes > 0)
            frames.push_back(Slice::copy_of(copy_bits(element, begin, begin + bytes * 8)));
    }
    return {};
}

// StreamMuxConfig(), 1.7.3.1.
Result<void> LatmReader::read_mux_config(BitReader& in, Bytes element) {
    const bool version = TRY(in.flag());
    if (version && TRY(in.flag()))
        return Error(Errc::unsupported, "LATM of audioMuxVersionA 1");
    if (version)
        TRY(read_value(in));  // taraBufferFullness
    if (!TRY(in.flag()))
        return Error(Errc::unsupported, "LATM whose streams differ in time");
    const auto subframes = TRY(in.bits(6)) + 1;
    const auto programs = TRY(in.bits(4));
    const auto layers = TRY(in.bits(3));
    if (programs != 0 || layers != 0)
        return Error(Errc::unsupported, "LATM of several programs or layers");
    std::size_t config_bits = 0;
    if (version)
        config_bits = TRY(read_value(in));
    TRY(read_audio_config(in, element, config_bits));
    subframes_ = subframes;
    if (TRY(in.bits(3)) != 0)
        return Error(Errc::unsupported, "LATM of frames of one length");
    TRY(in.skip(8));  // latmBufferFullness
    if (TRY(in.flag())) {
        if (version)
            TRY(read_value(in));
        else
            while (TRY(in.flag()))
                TRY(in.skip(8));
        if (!version)
            TRY(in.skip(8));
    }
    if (TRY(in.flag()))
        TRY(in.skip(8));  // crcCheckSum
    return {};
}

// `bits` is 0 if only the contents determine the length.
Result<void> LatmReader::read_audio_config(BitReader& in, Bytes element, std::size_t bits) {
    const std::size_t begin = position(in, element);
    if (bits == 0) {
        TRY(skip_head(in));
        const std::size_t end = position(in, element);
        const auto head = TRY(parse_aac_config(copy_bits(element, begin, end)));
        TRY(skip_general(in, head));
    } else {
        TRY(in.skip(bits));
    }
    auto config = copy_bits(element, begin, position(in, element));
    if (bits == 0)
        TRY(skip_extension(in));
    parsed_ = TRY(parse_aac_config(config));
    config_ = std::move(config);
    return {};
}

}  // namespace live::wire::codec
