// The body of an FLV audio tag, which is also the payload of an RTMP audio message: the classic header (Video File Format 10.1,
// E.4.2) and the enhanced one (E-RTMP v2, "Enhanced Audio"). It says what the bytes are; it does not look into them.
#pragma once

#include <chrono>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/flv/codec.hpp"

namespace live::wire::flv {

struct AudioTag {
    Codec codec = Codec::none;  // none for the empty message
    PacketKind kind = PacketKind::other;
    // What a classic header says; zero in an enhanced one. AAC encoders always say 44,100 Hz and two channels: the truth is in
    // the sequence header.
    std::uint32_t sample_rate = 0;
    std::uint8_t sample_bits = 0;
    std::uint8_t channels = 0;
    std::chrono::nanoseconds timestamp_offset{};  // to be added to the message's time, below one millisecond
    bool enhanced = false;
    bool multitrack = false;
    bool has_more = false;  // multitrack of a type that may hold further tracks
    int track_id = 0;
    std::uint32_t fourcc = 0;  // as it was said; only read
    Bytes body;                // what the decoder gets, borrowed from the input
};

// The tag, or its first track. The empty message is legal and means silence (E-RTMP v2, AudioPacketType.SequenceEnd): it comes
// back as end_of_sequence without a codec. Errors as parse_video_tag.
Result<AudioTag> parse_audio_tag(Bytes body);

// All tracks of a tag; one unless it is multitrack.
Result<std::vector<AudioTag>> parse_audio_tracks(Bytes body);

// Header and body of one track: the classic header unless tag.enhanced, and a OneTrack message when it is multitrack as well.
// Aborts when the header cannot say the codec.
void write_audio_tag(ByteWriter& out, const AudioTag& tag);

}  // namespace live::wire::flv
