// The body of an FLV audio tag, which is also the payload of an RTMP audio message: the classic header (Video File Format 10.1,
// E.4.2) and the enhanced one (E-RTMP v2, "Enhanced Audio"). Parses the header only, not the media.
#pragma once

#include <chrono>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/flv/body_header.hpp"
#include "wire/flv/codec.hpp"

namespace live::wire::flv {

struct AudioTag {
    Codec codec = Codec::none;  // none for the empty message
    PacketKind kind = PacketKind::other;
    // Values of a classic header; zero in an enhanced one. AAC encoders always write 44,100 Hz and two channels; the real values
    // are in the sequence header.
    std::uint32_t sample_rate = 0;
    std::uint8_t sample_bits = 0;
    std::uint8_t channels = 0;
    std::chrono::nanoseconds timestamp_offset{};  // added to the message's timestamp; below one millisecond
    bool enhanced = false;
    bool multitrack = false;
    bool has_more = false;  // multitrack of a type that may contain further tracks
    int track_id = 0;
    std::uint32_t fourcc = 0;  // as received; set only when reading
    Bytes body;                // decoder input, borrowed from the parsed bytes
};

// Parses the tag, or its first track. The empty message is valid and means silence (E-RTMP v2, AudioPacketType.SequenceEnd): it
// is returned as end_of_sequence without a codec. Errors as for parse_video_tag.
Result<AudioTag> parse_audio_tag(Bytes body);

// All tracks of a tag; one unless it is multitrack.
Result<std::vector<AudioTag>> parse_audio_tracks(Bytes body);

// Returns the header of one track: the classic header unless tag.enhanced, and that of a OneTrack message when it is
// multitrack as well; nothing for the empty message. Aborts when the header cannot represent the codec.
BodyHeader audio_header(const AudioTag& tag);

// Writes that header and the body.
void write_audio_tag(ByteWriter& out, const AudioTag& tag);

}  // namespace live::wire::flv
