// Splits multitrack messages (E-RTMP v2, "Multitrack") into messages of one track each. Track content is not parsed; the tag
// parsers interpret codecs and packet types.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/result.hpp"

namespace live::wire::flv {

struct TrackPart {
    std::uint8_t track_id = 0;
    std::uint32_t fourcc = 0;
    Bytes body;  // borrowed from the message
};

struct TrackParts {
    MediaKind kind = MediaKind::audio;
    // The message's first byte and its modifier extensions, borrowed. The low half of the last byte is a packet type.
    Bytes lead;
    std::uint8_t packet_type = 0;  // common to all parts
    std::vector<TrackPart> parts;  // in message order
};

// Extensions are repeated for each track; messages with longer ones are rejected.
inline constexpr std::size_t kTrackLeadMax = 64;

// Parses a message of several tracks without changing it. Errors as for the tag parsers; Errc::malformed for any other message,
// Errc::limit for more than kTracksMax tracks or a lead above kTrackLeadMax.
Result<TrackParts> read_tracks(MediaKind kind, Bytes body);

// Writes one part as a message: enhanced without multitrack for track 0, else a OneTrack message. Extensions are unchanged.
void write_track(ByteWriter& out, const TrackParts& tracks, const TrackPart& part);

}  // namespace live::wire::flv
