#include "wire/mp4/track_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/flac.hpp"
#include "wire/codec/audio/mp3.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/mp4/box.hpp"

namespace live::wire::mp4 {

namespace {

constexpr std::uint32_t kOpusRate = 48'000;
constexpr std::uint32_t kAacSamples = 1'024;
constexpr std::uint8_t kObjectTypeAac = 0x40;
constexpr std::uint8_t kObjectTypeMp3 = 0x6B;         // MPEG-1 rates
constexpr std::uint8_t kObjectTypeMp3LowRate = 0x69;  // MPEG-2 rates and below
constexpr std::uint32_t kMp3LowRateBelow = 32'000;

struct ConfigBox {
    std::string_view type;
    Bytes content;
};

// ISO/IEC 14496-12, 12.1.3: VisualSampleEntry.
Result<TrackFormat> video_format(std::string_view entry, std::string codecs, const codec::SpsInfo& picture,
                                 const ConfigBox& config) {
    constexpr std::uint32_t kSideMax = std::numeric_limits<std::uint16_t>::max();
    if (picture.width == 0 || picture.height == 0 || picture.width > kSideMax || picture.height > kSideMax)
        return Error(Errc::limit, fmt::format("frames of {}x{} do not fit an MP4 header", picture.width, picture.height));
    TrackFormat format;
    format.kind = MediaKind::video;
    format.width = static_cast<std::uint16_t>(picture.width);
    format.height = static_cast<std::uint16_t>(picture.height);
    format.frames_per_second = picture.frames_per_second.value_or(0);
    format.codecs = std::move(codecs);
    ByteWriter out;
    {
        constexpr std::uint32_t k72DotsPerInch = 72U << 16;
        constexpr std::size_t kCompressorNameBytes = 32;
        constexpr std::uint16_t kDepth24 = 0x18;
        const Box box(out, entry);
        out.zeros(6).u16be(1).zeros(16).u16be(format.width).u16be(format.height);
        out.u32be(k72DotsPerInch).u32be(k72DotsPerInch).u32be(0).u16be(1).zeros(kCompressorNameBytes);
        out.u16be(kDepth24).u16be(0xFFFF);
        const Box inner(out, config.type);
        out.bytes(config.content);
    }
    format.sample_entry = out.release();
    return format;
}

struct Audio {
    std::uint32_t sample_rate = 0;
    std::uint16_t channels = 0;
    std::uint16_t sample_bits = 16;
    std::uint32_t sample_ticks = 0;
};

// ISO/IEC 14496-12, 12.2.3: AudioSampleEntry.
TrackFormat audio_format(std::string_view entry, std::string codecs, const Audio& audio, const ConfigBox& config) {
    TrackFormat format;
    format.kind = MediaKind::audio;
    format.timescale = audio.sample_rate;
    format.channels = audio.channels;
    format.sample_rate = audio.sample_rate;
    format.sample_ticks = audio.sample_ticks;
    format.codecs = std::move(codecs);
    // The field has 16.16 bits; higher rates are only in the codec's own configuration.
    const std::uint32_t rate = audio.sample_rate <= 0xFFFF ? audio.sample_rate << 16 : 0;
    ByteWriter out;
    {
        const Box box(out, entry);
        out.zeros(6).u16be(1).zeros(8).u16be(audio.channels).u16be(audio.sample_bits).zeros(4).u32be(rate);
        const Box inner(out, config.type);
        out.bytes(config.content);
    }
    format.sample_entry = out.release();
    return format;
}

// ISO/IEC 14496-1, 7.2.6: descriptors are a tag, a length of seven bits per byte, and the content.
void write_descriptor(ByteWriter& out, std::uint8_t tag, Bytes content) {
    CHECK(content.size() < 1U << 14);
    out.u8(tag);
    if (content.size() >= 0x80)
        out.u8(static_cast<std::uint8_t>(0x80U | content.size() >> 7));
    out.u8(static_cast<std::uint8_t>(content.size() & 0x7F)).bytes(content);
}

// ISO/IEC 14496-14, 5.6: the content of the esds box. `specific` is empty for MP3.
std::vector<std::uint8_t> elementary_stream(std::uint8_t object_type, Bytes specific) {
    enum Tag : std::uint8_t { kStream = 3, kDecoder = 4, kSpecific = 5, kSync = 6 };
    constexpr std::uint8_t kAudioStream = 0x15;
    constexpr std::uint8_t kSyncOfMp4 = 2;
    ByteWriter decoder;
    decoder.u8(object_type).u8(kAudioStream).u24be(0).u32be(0).u32be(0);
    if (!specific.empty())
        write_descriptor(decoder, kSpecific, specific);
    ByteWriter stream;
    stream.u16be(0).u8(0);
    write_descriptor(stream, kDecoder, decoder.written());
    write_descriptor(stream, kSync, Bytes(&kSyncOfMp4, 1));
    ByteWriter out;
    out.u32be(0);  // version and flags
    write_descriptor(out, kStream, stream.written());
    return out.release();
}

std::uint32_t reversed_bits(std::uint32_t value) {
    std::uint32_t out = 0;
    for (int i = 0; i < 32; ++i)
        out = out << 1 | (value >> i & 1);
    return out;
}

// ISO/IEC 14496-15, E.3: hvc1.[space]profile.compatibility.tier level.constraints.
std::string hevc_name(const codec::HevcConfig& config) {
    constexpr std::string_view kSpaces[] = {"", "A", "B", "C"};
    std::string name = fmt::format("hvc1.{}{}.{:x}.{}{}", kSpaces[config.profile_space & 3], config.profile,
                                   reversed_bits(config.compatibility), config.high_tier ? 'H' : 'L', config.level);
    std::uint64_t constraints = config.constraints << 16;
    for (; constraints != 0; constraints <<= 8)
        name += fmt::format(".{:X}", constraints >> 56);
    return name;
}

// "AV1 Codec ISO Media File Format Binding", 5: av01.P.LLT.DD.
std::string av1_name(const codec::Av1Config& config) {
    constexpr std::uint8_t kHighDepth = 0x40;
    constexpr std::uint8_t kTwelveBits = 0x20;
    const int depth = (config.color_bits & kHighDepth) == 0 ? 8 : (config.color_bits & kTwelveBits) != 0 ? 12 : 10;
    return fmt::format("av01.{}.{:02}{}.{:02}", config.profile, config.level, config.high_tier ? 'H' : 'M', depth);
}

}  // namespace

Result<TrackFormat> avc_format(Bytes record) {
    const auto config = TRY(codec::parse_avc_config(record));
    if (config.sps.empty())
        return Error(Errc::malformed, "an AVC configuration without parameter sets");
    const auto picture = TRY(codec::parse_avc_sps(config.sps.front()));
    return video_format("avc1", fmt::format("avc1.{:02x}{:02x}{:02x}", config.profile, config.compatibility, config.level),
                        picture, {"avcC", record});
}

Result<TrackFormat> hevc_format(Bytes record) {
    const auto config = TRY(codec::parse_hevc_config(record));
    const auto picture = TRY(codec::parse_hevc_sps(config.first_unit(codec::HevcConfig::kSps)));
    return video_format("hvc1", hevc_name(config), picture, {"hvcC", record});
}

Result<TrackFormat> av1_format(Bytes record, const codec::SpsInfo* picture) {
    const auto config = TRY(codec::parse_av1_config(record));
    const auto size = picture != nullptr ? *picture : TRY(codec::parse_av1_sequence_header(config.obus));
    return video_format("av01", av1_name(config), size, {"av1C", record});
}

// "VP Codec ISO Media File Format Binding", 2.2.
Result<TrackFormat> vp9_format(Bytes record, const codec::SpsInfo& picture) {
    constexpr std::size_t kRecordBytes = 8;
    constexpr std::uint8_t kLevelUnknown = 0;
    constexpr std::uint8_t kLowestLevel = 10;
    constexpr std::uint32_t kVersion1 = 1U << 24;
    ByteReader in(record);
    const auto head = in.u32be();
    if (head.ok() && *head == kVersion1 && in.remaining() >= kRecordBytes)
        record = in.rest();
    in = ByteReader(record);
    const unsigned profile = TRY(in.u8());
    const unsigned level = TRY(in.u8());
    const unsigned depth = TRY(in.u8()) >> 4;
    TRY(in.skip(kRecordBytes - 3));
    if (profile > 3 || depth < 8 || depth > 12)
        return Error(Errc::malformed, fmt::format("a VP9 configuration of profile {} with {} bits", profile, depth));
    ByteWriter content;
    content.u32be(kVersion1).bytes(record);
    return video_format("vp09",
                        fmt::format("vp09.{:02}.{:02}.{:02}", profile, level == kLevelUnknown ? kLowestLevel : level, depth),
                        picture, {"vpcC", content.written()});
}

Result<TrackFormat> aac_format(Bytes bytes) {
    constexpr int kSbr = 5;
    constexpr int kPs = 29;
    constexpr std::uint16_t kChannelsUnknown = 2;
    // Longer ones are valid and contain extensions that no decoder here needs; the length must only fit its descriptor.
    constexpr std::size_t kConfigBytesMax = 1'024;
    if (bytes.size() > kConfigBytesMax)
        return Error(Errc::limit, fmt::format("an AAC configuration of {} bytes", bytes.size()));
    const auto config = TRY(codec::parse_aac_config(bytes));
    const int type = config.ps ? kPs : config.sbr ? kSbr : config.object_type;
    const Audio audio = {.sample_rate = config.sample_rate,
                         .channels = config.channels == 0 ? kChannelsUnknown : std::uint16_t{config.channels},
                         .sample_ticks = kAacSamples};
    return audio_format("mp4a", fmt::format("mp4a.40.{}", type), audio, {"esds", elementary_stream(kObjectTypeAac, bytes)});
}

// "Encapsulation of Opus in ISO Base Media File Format", 4.3.2: the identification header in network byte order, without its
// magic.
Result<TrackFormat> opus_format(Bytes bytes) {
    const auto head = TRY(codec::parse_opus_head(bytes));
    ByteWriter content;
    content.u8(0).u8(head.channels).u16be(head.pre_skip).u32be(head.input_rate);
    content.u16be(static_cast<std::uint16_t>(head.gain)).u8(head.mapping_family);
    if (head.mapping_family != 0)
        content.u8(head.streams).u8(head.coupled).bytes(head.mapping);
    return audio_format("Opus", "opus", {.sample_rate = kOpusRate, .channels = head.channels}, {"dOps", content.written()});
}

// "Encapsulation of FLAC in ISO Base Media File Format", 3.3.2.
Result<TrackFormat> flac_format(Bytes header) {
    constexpr std::uint32_t kLastBlockOfStreamInfo = 0x80U << 24;
    const auto info = TRY(codec::parse_flac_stream_info(header));
    ByteWriter content;
    content.u32be(0).u32be(kLastBlockOfStreamInfo | codec::kFlacStreamInfoBytes).bytes(info.block);
    return audio_format("fLaC", "fLaC",
                        {.sample_rate = info.sample_rate,
                         .channels = info.channels,
                         .sample_bits = info.sample_bits,
                         .sample_ticks = info.block_samples_min == info.block_samples_max ? info.block_samples_max : 0U},
                        {"dfLa", content.written()});
}

Result<TrackFormat> mp3_format(Bytes frame) {
    const auto header = TRY(codec::parse_mp3_header(frame));
    const std::uint8_t type = header.sample_rate < kMp3LowRateBelow ? kObjectTypeMp3LowRate : kObjectTypeMp3;
    return audio_format("mp4a", fmt::format("mp4a.{:X}", type),
                        {.sample_rate = header.sample_rate, .channels = header.channels, .sample_ticks = header.samples},
                        {"esds", elementary_stream(type, {})});
}

}  // namespace live::wire::mp4
