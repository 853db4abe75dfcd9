#include "wire/flv/multitrack.hpp"

#include <string>

#include "base/bytes/byte_reader.hpp"
#include "wire/flv/ex_header.hpp"
#include "wire/flv/video_tag.hpp"

namespace live::wire::flv {

namespace {

std::uint8_t multitrack_code(MediaKind kind) { return kind == MediaKind::video ? kVideoMultitrack : kAudioMultitrack; }

bool is_extended(MediaKind kind, std::uint8_t head) {
    constexpr std::uint8_t kExAudio = 9;
    return kind == MediaKind::video ? (head & 0x80) != 0 : head >> 4 == kExAudio;
}

// E-RTMP v2, "VideoCommand": such a message has no tracks, whatever its packet type.
bool is_command(MediaKind kind, std::uint8_t head) {
    constexpr int kCommandFrameType = 5;
    return kind == MediaKind::video && (head >> 4 & 7) == kCommandFrameType;
}

}  // namespace

Result<TrackParts> read_tracks(MediaKind kind, Bytes body) {
    ByteReader in(body);
    const auto head = TRY(in.u8());
    ExHeader header;
    header.packet_type = head & 0x0F;
    TRY(read_mod_ex(in, header));
    TrackParts tracks;
    tracks.kind = kind;
    tracks.lead = body.first(body.size() - in.remaining());
    if (tracks.lead.size() > kTrackLeadMax)
        return Error(Errc::limit, "extensions of " + std::to_string(tracks.lead.size()) + " bytes in front of several tracks");
    TRY(read_multitrack_and_fourcc(in, multitrack_code(kind), header));
    if (!is_extended(kind, head) || is_command(kind, head) || !header.multitrack ||
        header.multitrack == MultitrackType::one_track)
        return Error(Errc::malformed, "no message of several tracks");
    tracks.packet_type = header.packet_type;
    do {
        if (tracks.parts.size() == kTracksMax)
            return Error(Errc::limit, "more than " + std::to_string(kTracksMax) + " tracks in one message");
        const ExTrack track = TRY(read_track(in, header));
        tracks.parts.push_back({static_cast<std::uint8_t>(track.track_id), track.fourcc, track.body});
    } while (!in.at_end());
    return tracks;
}

void write_track(ByteWriter& out, const TrackParts& tracks, const TrackPart& part) {
    const int head = tracks.lead.back() & 0xF0;
    out.bytes(tracks.lead.first(tracks.lead.size() - 1));
    BodyHeader header;
    if (part.track_id == 0)
        header.u8(static_cast<std::uint8_t>(head | tracks.packet_type)).u32be(part.fourcc);
    else
        write_one_track_header(header, static_cast<std::uint8_t>(head | multitrack_code(tracks.kind)), tracks.packet_type,
                               part.fourcc, part.track_id);
    out.bytes(header.view()).bytes(part.body);
}

}  // namespace live::wire::flv
