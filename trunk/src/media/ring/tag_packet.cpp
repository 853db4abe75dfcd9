#include "media/ring/tag_packet.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "wire/codec/video/annex_b.hpp"
#include "wire/flv/audio_tag.hpp"
#include "wire/flv/multitrack.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::media {

namespace flv = wire::flv;

namespace {

Content content_of(flv::PacketKind kind) {
    switch (kind) {
        case flv::PacketKind::sequence_header: return Content::config;
        case flv::PacketKind::frames: return Content::frame;
        default: return Content::other;
    }
}

flv::PacketKind kind_of(Content content) {
    return content == Content::config ? flv::PacketKind::sequence_header : flv::PacketKind::frames;
}

// A FourCC is used only where the classic header has no id, because players have supported the ids longest.
bool is_enhanced(Codec codec) {
    return codec != Codec::avc && codec != Codec::aac && codec != Codec::mp3 && flv::fourcc_of(codec).has_value();
}

// Fills in the fields that both kinds of tag have. `tag.body` is a part of `body`.
template <class Tag>
Result<void> fill(TagPacket& made, MediaKind kind, const Tag& tag, Slice&& body) {
    const auto head = tag.body.data() == nullptr ? body.size() : static_cast<std::size_t>(tag.body.data() - body.data());
    if (head > std::numeric_limits<std::uint16_t>::max())
        return Error(Errc::limit, "a tag's header of " + std::to_string(head) + " bytes");
    Packet& packet = made.packet;
    packet.kind = kind;
    packet.content = content_of(tag.kind);
    packet.codec = tag.codec;
    packet.track = TrackId(static_cast<std::uint8_t>(tag.track_id));
    packet.head = static_cast<std::uint16_t>(head);
    packet.dts = std::chrono::floor<MediaTime>(tag.timestamp_offset);
    packet.payload = std::move(body);
    made.fourcc = tag.fourcc;
    made.has_more = tag.has_more;
    return {};
}

Packet::Offset offset_of(std::chrono::microseconds time) {
    constexpr std::chrono::microseconds kMin = Packet::Offset::min();
    constexpr std::chrono::microseconds kMax = Packet::Offset::max();
    return std::chrono::duration_cast<Packet::Offset>(std::clamp(time, kMin, kMax));
}

std::uint32_t classic_rate_of(Codec codec) {
    switch (codec) {
        case Codec::speex: return 16'000;
        case Codec::g711a:
        case Codec::g711u: return 8'000;
        default: return 44'100;
    }
}

// Slices of arriving data may be larger than their frame by a protocol's header.
constexpr std::size_t kSlackMax = 64;

// A slice with its own pages is not copied: that takes milliseconds.
Slice without_slack(Slice data) {
    if (data.memory_bytes() <= data.size() + kSlackMax || data.is_alone_on_pages())
        return data;
    return Slice::copy_of(data.bytes());
}

}  // namespace

// This runs for each packet that arrives, so the tag and the packet are filled in place, without a copy.
Result<TagPacket> read_tag(MediaKind kind, Slice body) {
    Result<TagPacket> made = TagPacket();
    if (kind == MediaKind::video) {
        const auto tag = flv::parse_video_tag(body.bytes());
        if (!tag.ok())
            return tag.error();
        TRY(fill(*made, kind, *tag, std::move(body)));
        made->packet.key = tag->key;
        made->reserved_type = tag->reserved_type;
        made->may_be_annex_b = wire::codec::may_be_annex_b(tag->body);
        made->packet.cts = offset_of(tag->composition);
        return made;
    }
    const auto tag = flv::parse_audio_tag(body.bytes());
    if (!tag.ok())
        return tag.error();
    TRY(fill(*made, kind, *tag, std::move(body)));
    made->audio = {tag->sample_rate, tag->channels};
    return made;
}

void set_frame_type(TagPacket& tagged, bool key) {
    Packet& packet = tagged.packet;
    Slice copy = Slice::copy_of(packet.payload.bytes());
    flv::set_frame_type(copy.mutable_bytes(), key || packet.is_config());
    packet.payload = std::move(copy);
    packet.key = key && packet.content == Content::frame;
    tagged.reserved_type = false;
}

Result<std::vector<Slice>> split_tag(MediaKind kind, Bytes body) {
    auto tracks = TRY(flv::read_tracks(kind, body));
    std::ranges::stable_sort(tracks.parts, {}, &flv::TrackPart::track_id);
    std::vector<Slice> bodies;
    for (const flv::TrackPart& part : tracks.parts) {
        ByteWriter out;
        flv::write_track(out, tracks, part);
        bodies.push_back(Slice::copy_of(out.written()));
    }
    return bodies;
}

Packet make_packet(MediaKind kind, wire::codec::Frame frame) {
    Packet packet;
    packet.kind = kind;
    packet.content = frame.content;
    packet.key = frame.key;
    packet.codec = frame.codec;
    packet.track = frame.track;
    packet.cts = offset_of(std::chrono::floor<std::chrono::milliseconds>(frame.cts));
    packet.payload = frame.shares_memory ? std::move(frame.data) : without_slack(std::move(frame.data));
    return packet;
}

flv::BodyHeader make_body_header(const Packet& packet) {
    const bool is_multitrack = packet.track != TrackId();
    if (packet.kind == MediaKind::video) {
        flv::VideoTag tag;
        tag.codec = packet.codec;
        tag.key = packet.key;
        tag.kind = kind_of(packet.content);
        tag.composition = std::chrono::floor<std::chrono::milliseconds>(packet.cts);
        tag.track_id = static_cast<int>(packet.track);
        tag.multitrack = is_multitrack;
        tag.enhanced = is_multitrack || is_enhanced(packet.codec);
        return video_header(tag);
    }
    flv::AudioTag tag;
    tag.codec = packet.codec;
    tag.kind = kind_of(packet.content);
    // For AAC, the classic header always contains 44,100 Hz, 16 bits and stereo.
    tag.sample_rate = classic_rate_of(packet.codec);
    tag.sample_bits = 16;
    tag.channels = 2;
    tag.track_id = static_cast<int>(packet.track);
    tag.multitrack = is_multitrack;
    tag.enhanced = is_multitrack || is_enhanced(packet.codec);
    return audio_header(tag);
}

double metadata_id_of(Codec codec) {
    constexpr double kAvcId = 7;
    constexpr double kAacId = 10;
    switch (codec) {
        case Codec::avc: return kAvcId;
        case Codec::aac: return kAacId;
        default: return flv::fourcc_of(codec).value_or(0);
    }
}

}  // namespace live::media
