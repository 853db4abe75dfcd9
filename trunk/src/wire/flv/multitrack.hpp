// Multitrack messages with several tracks (E-RTMP v2, "Multitrack"), taken apart into messages of one track each. Nothing in a
// track is looked into: what its codec and packet type mean, the tag parsers say.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::flv {

enum class TrackKind : std::uint8_t { audio, video };

struct TrackPart {
    std::uint8_t track_id = 0;
    std::uint32_t fourcc = 0;
    Bytes body;  // borrowed from the message
};

struct TrackParts {
    TrackKind kind = TrackKind::audio;
    // The message's first byte and its modifier extensions, borrowed. The low half of its last byte is a packet type.
    Bytes lead;
    std::uint8_t packet_type = 0;  // of all parts
    std::vector<TrackPart> parts;  // in the message's order
};

// Extensions are written once more for each track; messages with longer ones are refused.
inline constexpr std::size_t kTrackLeadMax = 64;

// A message of several tracks, as it stands there. Errors as the tag parsers'; Errc::malformed for what is no such message,
// Errc::limit for more than kTracksMax tracks, or a lead above kTrackLeadMax.
Result<TrackParts> read_tracks(TrackKind kind, Bytes body);

// One part as a message: an enhanced one without multitrack for track 0, else a OneTrack message. Extensions as they came.
void write_track(ByteWriter& out, const TrackParts& tracks, const TrackPart& part);

}  // namespace live::wire::flv
