// The body of an FLV video tag, which is also the payload of an RTMP video message: the classic header (Video File Format 10.1,
// E.4.3) and the enhanced one (E-RTMP v2, "Enhanced Video"). Parses the header only, not the media.
#pragma once

#include <chrono>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/flv/body_header.hpp"
#include "wire/flv/codec.hpp"

namespace live::wire::flv {

// Maximum number of tracks in a multitrack message; a track ID is one byte, so there are no more distinct IDs.
inline constexpr std::size_t kTracksMax = 256;

struct VideoTag {
    Codec codec = Codec::none;  // none for a command
    bool key = false;           // a frame at which decoding can start; never set for other kinds
    PacketKind kind = PacketKind::other;
    std::chrono::milliseconds composition{};      // presentation time minus decoding time; may be negative
    std::chrono::nanoseconds timestamp_offset{};  // added to the message's timestamp; below one millisecond
    bool reserved_type = false;                   // the frame type is reserved; set only when reading
    bool enhanced = false;
    bool multitrack = false;
    bool has_more = false;  // multitrack of a type that may contain further tracks
    int track_id = 0;
    std::uint32_t fourcc = 0;  // as received; set only when reading
    Bytes body;                // decoder input, borrowed from the parsed bytes
};

// Parses the tag, or its first track. Errc::need_more when the header is truncated, Errc::malformed, Errc::unsupported for
// reserved packet types, Errc::limit. An unknown codec is not an error: such streams are relayed unchanged.
Result<VideoTag> parse_video_tag(Bytes body);

// All tracks of a tag; one unless it is multitrack.
Result<std::vector<VideoTag>> parse_video_tracks(Bytes body);

// Returns the header of one track: the classic header unless tag.enhanced, and that of a OneTrack message when it is
// multitrack as well. Aborts when a classic header cannot represent the codec or an enhanced one needs a FourCC that the codec
// does not have.
BodyHeader video_header(const VideoTag& tag);

// Writes that header and the body.
void write_video_tag(ByteWriter& out, const VideoTag& tag);

// Changes the frame type of a tag's header, which is not empty.
void set_frame_type(MutBytes body, bool key);

}  // namespace live::wire::flv
