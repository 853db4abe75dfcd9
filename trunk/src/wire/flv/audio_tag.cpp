#include "wire/flv/audio_tag.hpp"

#include <array>
#include <optional>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "base/check.hpp"
#include "wire/flv/ex_header.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::wire::flv {

namespace {

// E-RTMP v2, AudioFormat.
constexpr std::uint8_t kExHeader = 9;
constexpr std::uint8_t kAac = 10;

// E-RTMP v2, AudioPacketType.
enum PacketType : std::uint8_t {
    kSequenceStart = 0,
    kCodedFrames = 1,
    kSequenceEnd = 2,
    kMultichannelConfig = 4,
    kMultitrack = kAudioMultitrack,
};

struct Format {
    Codec codec;
    std::uint32_t fixed_rate;  // 0: the rate bits apply
};

constexpr std::array<Format, 16> kFormats = {{
    {Codec::pcm, 0},  // platform endian
    {Codec::adpcm, 0},
    {Codec::mp3, 0},
    {Codec::pcm, 0},  // little endian
    {Codec::nellymoser, 16'000},
    {Codec::nellymoser, 8'000},
    {Codec::nellymoser, 0},
    {Codec::g711a, 8'000},
    {Codec::g711u, 8'000},
    {Codec::unknown, 0},  // the enhanced header; not reached
    {Codec::aac, 0},
    {Codec::speex, 16'000},
    {Codec::unknown, 0},
    {Codec::unknown, 0},
    {Codec::mp3, 8'000},
    {Codec::unknown, 0},  // device specific
}};

constexpr std::array<std::uint32_t, 4> kRates = {5'512, 11'025, 22'050, 44'100};

Result<AudioTag> parse_classic(ByteReader& in, std::uint8_t head) {
    const Format& format = kFormats[head >> 4];
    AudioTag tag;
    tag.codec = format.codec;
    tag.kind = PacketKind::frames;
    tag.sample_rate = format.fixed_rate != 0 ? format.fixed_rate : kRates[head >> 2 & 3];
    tag.sample_bits = (head & 2) != 0 ? 16 : 8;
    tag.channels = (head & 1) != 0 ? 2 : 1;
    if (head >> 4 == kAac) {
        switch (TRY(in.u8())) {
            case 0: tag.kind = PacketKind::sequence_header; break;
            case 1: tag.kind = PacketKind::frames; break;
            default: tag.kind = PacketKind::other; break;
        }
    }
    tag.body = in.rest();
    return tag;
}

std::optional<PacketKind> kind_of(std::uint8_t packet_type) {
    switch (packet_type) {
        case kSequenceStart: return PacketKind::sequence_header;
        case kCodedFrames: return PacketKind::frames;
        case kSequenceEnd: return PacketKind::end_of_sequence;
        case kMultichannelConfig: return PacketKind::channel_config;
        default: return std::nullopt;
    }
}

Result<ExHeader> parse_enhanced_head(ByteReader& in, std::uint8_t head) {
    ExHeader header;
    header.packet_type = head & 0x0F;
    TRY(read_mod_ex(in, header));
    TRY(read_multitrack_and_fourcc(in, kMultitrack, header));
    return header;
}

Result<AudioTag> parse_track(ByteReader& in, const ExHeader& header) {
    const auto kind = kind_of(header.packet_type);
    if (!kind)
        return Error(Errc::unsupported, "audio packet type " + std::to_string(header.packet_type) + " is reserved");
    const ExTrack track = TRY(read_track(in, header));
    AudioTag tag;
    tag.codec = audio_codec_of(track.fourcc);
    tag.kind = *kind;
    tag.timestamp_offset = header.timestamp_offset;
    tag.enhanced = true;
    tag.multitrack = header.multitrack.has_value();
    tag.has_more = tag.multitrack && header.multitrack != MultitrackType::one_track;
    tag.track_id = track.track_id;
    tag.fourcc = track.fourcc;
    tag.body = track.body;
    return tag;
}

AudioTag silence() {
    AudioTag tag;
    tag.kind = PacketKind::end_of_sequence;
    return tag;
}

std::uint8_t classic_format(const AudioTag& tag) {
    for (std::uint8_t format = 0; format < kFormats.size(); ++format) {
        const Format& row = kFormats[format];
        // Little-endian PCM rather than the platform-endian format.
        if (format != 0 && format != kExHeader && row.codec == tag.codec &&
            (row.fixed_rate == 0 || row.fixed_rate == tag.sample_rate))
            return format;
    }
    return kExHeader;
}

// Header up to the FourCC, or up to the track ID of a OneTrack message. `head` is the first byte without its packet type.
void write_ex_header(BodyHeader& out, std::uint8_t head, std::uint8_t packet_type, const AudioTag& tag) {
    const auto code = fourcc_of(tag.codec);
    CHECK(code.has_value());
    if (!tag.multitrack) {
        out.u8(static_cast<std::uint8_t>(head | packet_type)).u32be(*code);
        return;
    }
    write_one_track_header(out, static_cast<std::uint8_t>(head | kMultitrack), packet_type, *code, tag.track_id);
}

}  // namespace

Result<AudioTag> parse_audio_tag(Bytes body) {
    if (body.empty())
        return silence();
    ByteReader in(body);
    const auto head = TRY(in.u8());
    if (head >> 4 != kExHeader)
        return parse_classic(in, head);
    return parse_track(in, TRY(parse_enhanced_head(in, head)));
}

Result<std::vector<AudioTag>> parse_audio_tracks(Bytes body) {
    if (body.empty())
        return std::vector{silence()};
    ByteReader in(body);
    const auto head = TRY(in.u8());
    if (head >> 4 != kExHeader)
        return std::vector{TRY(parse_classic(in, head))};
    const ExHeader header = TRY(parse_enhanced_head(in, head));
    std::vector<AudioTag> tracks;
    do {
        if (tracks.size() == kTracksMax)
            return Error(Errc::limit, "more than " + std::to_string(kTracksMax) + " audio tracks in one message");
        tracks.push_back(TRY(parse_track(in, header)));
    } while (!in.at_end());
    return tracks;
}

BodyHeader audio_header(const AudioTag& tag) {
    BodyHeader out;
    if (!tag.enhanced) {
        if (tag.codec == Codec::none)
            return out;
        const std::uint8_t format = classic_format(tag);
        CHECK(format != kExHeader && tag.codec != Codec::unknown);
        std::uint8_t rate = 0;
        while (rate < 3 && kRates[rate] < tag.sample_rate)
            ++rate;
        const int flags = rate << 2 | (tag.sample_bits == 16 ? 2 : 0) | (tag.channels == 2 ? 1 : 0);
        out.u8(static_cast<std::uint8_t>(format << 4 | flags));
        if (format == kAac)
            out.u8(tag.kind == PacketKind::sequence_header ? 0 : 1);
        return out;
    }
    std::uint8_t packet_type = kCodedFrames;
    switch (tag.kind) {
        case PacketKind::sequence_header: packet_type = kSequenceStart; break;
        case PacketKind::end_of_sequence: packet_type = kSequenceEnd; break;
        case PacketKind::channel_config: packet_type = kMultichannelConfig; break;
        default: break;
    }
    write_ex_header(out, kExHeader << 4, packet_type, tag);
    return out;
}

void write_audio_tag(ByteWriter& out, const AudioTag& tag) {
    const BodyHeader header = audio_header(tag);
    if (header.size() > 0)
        out.bytes(header.view()).bytes(tag.body);
}

}  // namespace live::wire::flv
