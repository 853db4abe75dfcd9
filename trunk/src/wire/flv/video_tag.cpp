#include "wire/flv/video_tag.hpp"

#include <optional>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "base/check.hpp"
#include "wire/flv/ex_header.hpp"

namespace live::wire::flv {

namespace {

enum FrameType : std::uint8_t { kKeyFrame = 1, kInterFrame = 2, kGeneratedKeyFrame = 4, kCommandFrame = 5 };

// E-RTMP v2, VideoPacketType.
enum PacketType : std::uint8_t {
    kSequenceStart = 0,
    kCodedFrames = 1,
    kSequenceEnd = 2,
    kCodedFramesX = 3,
    kMetadata = 4,
    kMpeg2TsSequenceStart = 5,
    kMultitrack = kVideoMultitrack,
};

// Video File Format 10.1, E.4.3.1. ID 12 is not in any specification: encoders in Asia used it for HEVC, in AVC's layout, before
// E-RTMP.
constexpr std::uint8_t kAvcId = 7;
constexpr std::uint8_t kHevcId = 12;

Codec classic_codec(std::uint8_t id) {
    switch (id) {
        case 2: return Codec::sorenson;
        case 3: return Codec::screen;
        case 4: return Codec::vp6;
        case 5: return Codec::vp6_alpha;
        case 6: return Codec::screen2;
        case kAvcId: return Codec::avc;
        case kHevcId: return Codec::hevc;
        default: return Codec::unknown;
    }
}

std::uint8_t classic_id(Codec codec) {
    switch (codec) {
        case Codec::sorenson: return 2;
        case Codec::screen: return 3;
        case Codec::vp6: return 4;
        case Codec::vp6_alpha: return 5;
        case Codec::screen2: return 6;
        case Codec::avc: return kAvcId;
        case Codec::hevc: return kHevcId;
        default: return 0;
    }
}

bool has_composition(Codec codec) { return codec == Codec::avc || codec == Codec::hevc; }

std::chrono::milliseconds signed_24(std::uint32_t bits) {
    const auto value = static_cast<std::int32_t>(bits);
    return std::chrono::milliseconds(value >= 1 << 23 ? value - (1 << 24) : value);
}

// Video File Format 10.1, E.4.3.1; E-RTMP v2, VideoFrameType: 0, 6 and 7 are reserved.
bool is_reserved(std::uint8_t frame_type) { return frame_type < kKeyFrame || frame_type > kCommandFrame; }

bool is_key(std::uint8_t frame_type) { return frame_type == kKeyFrame || frame_type == kGeneratedKeyFrame; }

Result<VideoTag> parse_classic(ByteReader& in, std::uint8_t head) {
    const std::uint8_t frame_type = head >> 4;
    VideoTag tag;
    if (frame_type == kCommandFrame) {
        tag.kind = PacketKind::command;
        tag.body = TRY(in.take(1));
        return tag;
    }
    tag.codec = classic_codec(head & 0x0F);
    tag.kind = PacketKind::frames;
    tag.reserved_type = is_reserved(frame_type);
    if (has_composition(tag.codec)) {
        switch (TRY(in.u8())) {
            case 0: tag.kind = PacketKind::sequence_header; break;
            case 1: tag.kind = PacketKind::frames; break;
            case 2: tag.kind = PacketKind::end_of_sequence; break;
            default: tag.kind = PacketKind::other; break;
        }
        // The composition time applies to frames only, but its bytes are present in every kind; some encoders truncate the end of
        // sequence before them.
        if (tag.kind == PacketKind::end_of_sequence && in.remaining() < 3)
            return tag;
        const auto composition = signed_24(TRY(in.u24be()));
        if (tag.kind == PacketKind::frames)
            tag.composition = composition;
    }
    tag.key = tag.kind == PacketKind::frames && is_key(frame_type);
    tag.body = in.rest();
    return tag;
}

std::optional<PacketKind> kind_of(std::uint8_t packet_type) {
    switch (packet_type) {
        case kSequenceStart: return PacketKind::sequence_header;
        case kCodedFrames:
        case kCodedFramesX: return PacketKind::frames;
        case kSequenceEnd: return PacketKind::end_of_sequence;
        case kMetadata: return PacketKind::metadata;
        case kMpeg2TsSequenceStart: return PacketKind::other;
        default: return std::nullopt;
    }
}

Result<VideoTag> parse_track(ByteReader& in, const ExHeader& header, std::uint8_t frame_type) {
    const auto kind = kind_of(header.packet_type);
    if (!kind)
        return Error(Errc::unsupported, "video packet type " + std::to_string(header.packet_type) + " is reserved");
    const ExTrack track = TRY(read_track(in, header));
    VideoTag tag;
    tag.codec = video_codec_of(track.fourcc);
    tag.kind = *kind;
    tag.key = *kind == PacketKind::frames && is_key(frame_type);
    tag.reserved_type = is_reserved(frame_type);
    tag.timestamp_offset = header.timestamp_offset;
    tag.enhanced = true;
    tag.multitrack = header.multitrack.has_value();
    tag.has_more = tag.multitrack && header.multitrack != MultitrackType::one_track;
    tag.track_id = track.track_id;
    tag.fourcc = track.fourcc;
    ByteReader body(track.body);
    if (header.packet_type == kCodedFrames && has_composition(tag.codec))
        tag.composition = signed_24(TRY(body.u24be()));
    tag.body = body.rest();
    return tag;
}

// Parses the enhanced header up to its first track; a command has no tracks and is then complete.
Result<std::optional<VideoTag>> parse_enhanced_head(ByteReader& in, std::uint8_t head, ExHeader& header) {
    header.packet_type = head & 0x0F;
    TRY(read_mod_ex(in, header));
    const std::uint8_t frame_type = head >> 4 & 0x07;
    if (frame_type == kCommandFrame && header.packet_type != kMetadata) {
        VideoTag tag;
        tag.kind = PacketKind::command;
        tag.timestamp_offset = header.timestamp_offset;
        tag.enhanced = true;
        tag.body = TRY(in.take(1));
        return std::optional(tag);
    }
    TRY(read_multitrack_and_fourcc(in, kMultitrack, header));
    return std::optional<VideoTag>();
}

// Header up to the FourCC, or up to the track ID of a OneTrack message. `head` is the first byte without its packet type.
void write_ex_header(BodyHeader& out, std::uint8_t head, std::uint8_t packet_type, const VideoTag& tag) {
    const auto code = fourcc_of(tag.codec);
    CHECK(code.has_value());
    if (!tag.multitrack) {
        out.u8(static_cast<std::uint8_t>(head | packet_type)).u32be(*code);
        return;
    }
    write_one_track_header(out, static_cast<std::uint8_t>(head | kMultitrack), packet_type, *code, tag.track_id);
}

}  // namespace

Result<VideoTag> parse_video_tag(Bytes body) {
    ByteReader in(body);
    const auto head = TRY(in.u8());
    if ((head & 0x80) == 0)
        return parse_classic(in, head);
    ExHeader header;
    const auto command = TRY(parse_enhanced_head(in, head, header));
    if (command)
        return *command;
    return parse_track(in, header, head >> 4 & 0x07);
}

Result<std::vector<VideoTag>> parse_video_tracks(Bytes body) {
    ByteReader in(body);
    const auto head = TRY(in.u8());
    if ((head & 0x80) == 0)
        return std::vector{TRY(parse_classic(in, head))};
    ExHeader header;
    const auto command = TRY(parse_enhanced_head(in, head, header));
    if (command)
        return std::vector{*command};
    std::vector<VideoTag> tracks;
    do {
        if (tracks.size() == kTracksMax)
            return Error(Errc::limit, "more than " + std::to_string(kTracksMax) + " video tracks in one message");
        tracks.push_back(TRY(parse_track(in, header, head >> 4 & 0x07)));
    } while (!in.at_end());
    return tracks;
}

BodyHeader video_header(const VideoTag& tag) {
    BodyHeader out;
    std::uint8_t frame_type = kKeyFrame;
    if (tag.kind == PacketKind::command)
        frame_type = kCommandFrame;
    else if (tag.kind == PacketKind::frames && !tag.key)
        frame_type = kInterFrame;
    const auto composition = static_cast<std::uint32_t>(tag.composition.count()) & 0xFF'FFFF;
    if (!tag.enhanced) {
        const std::uint8_t id = classic_id(tag.codec);
        CHECK(id != 0 || tag.kind == PacketKind::command);
        out.u8(static_cast<std::uint8_t>(frame_type << 4 | id));
        if (has_composition(tag.codec)) {
            out.u8(tag.kind == PacketKind::sequence_header ? 0 : tag.kind == PacketKind::end_of_sequence ? 2 : 1);
            out.u24be(composition);
        }
        return out;
    }
    std::uint8_t packet_type = kCodedFrames;
    switch (tag.kind) {
        case PacketKind::sequence_header: packet_type = kSequenceStart; break;
        case PacketKind::end_of_sequence: packet_type = kSequenceEnd; break;
        case PacketKind::metadata: packet_type = kMetadata; break;
        default: break;
    }
    const bool with_composition = tag.kind == PacketKind::frames && has_composition(tag.codec);
    if (with_composition && composition == 0)
        packet_type = kCodedFramesX;
    if (tag.kind == PacketKind::command)
        out.u8(static_cast<std::uint8_t>(0x80 | frame_type << 4 | packet_type));
    else
        write_ex_header(out, static_cast<std::uint8_t>(0x80 | frame_type << 4), packet_type, tag);
    if (with_composition && composition != 0)
        out.u24be(composition);
    return out;
}

void write_video_tag(ByteWriter& out, const VideoTag& tag) { out.bytes(video_header(tag).view()).bytes(tag.body); }

void set_frame_type(MutBytes body, bool key) {
    const auto type = static_cast<std::uint8_t>(key ? kKeyFrame : kInterFrame);
    body[0] = static_cast<std::uint8_t>((body[0] & 0x8F) | type << 4);
}

}  // namespace live::wire::flv
