// The body of an FLV video tag, which is also the payload of an RTMP video message: the classic header (Video File Format 10.1,
// E.4.3) and the enhanced one (E-RTMP v2, "Enhanced Video"). It says what the bytes are; it does not look into them.
#pragma once

#include <chrono>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/flv/codec.hpp"

namespace live::wire::flv {

// Tracks of one multitrack message that are read; a track id is one byte, so no more can differ.
inline constexpr std::size_t kTracksMax = 256;

struct VideoTag {
    Codec codec = Codec::none;  // none for a command
    bool key = false;           // frames that decoding can start at; never set for another kind
    PacketKind kind = PacketKind::other;
    std::chrono::milliseconds composition{};      // presentation minus decoding time; may be negative
    std::chrono::nanoseconds timestamp_offset{};  // to be added to the message's time, below one millisecond
    bool enhanced = false;
    bool multitrack = false;
    bool has_more = false;  // multitrack of a type that may hold further tracks
    int track_id = 0;
    std::uint32_t fourcc = 0;  // as it was said; only read
    Bytes body;                // what the decoder gets, borrowed from the input
};

// The tag, or its first track. Errc::need_more when the header is cut, Errc::malformed, Errc::unsupported for packet types the
// text reserves, Errc::limit. An unknown codec is no error: such streams are relayed as they are.
Result<VideoTag> parse_video_tag(Bytes body);

// All tracks of a tag; one unless it is multitrack.
Result<std::vector<VideoTag>> parse_video_tracks(Bytes body);

// Header and body of one track: the classic header unless tag.enhanced, and a OneTrack message when it is multitrack as well.
// Aborts when a classic header cannot say the codec or an enhanced one needs a FourCC that the codec does not have.
void write_video_tag(ByteWriter& out, const VideoTag& tag);

}  // namespace live::wire::flv
