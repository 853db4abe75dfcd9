// The description of one track in an MP4 header: its clock, size and sample entry (ISO/IEC 14496-12, 8.5.2), and the codec string
// for playlists (RFC 6381). Made from the decoder configurations carried in FLV and RTMP. Samples are handled in
// sample_reader.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/result.hpp"
#include "wire/codec/video/picture.hpp"

namespace live::wire::mp4 {

// Ticks per second of every video track.
inline constexpr std::uint32_t kVideoTimescale = 90'000;

struct TrackFormat {
    MediaKind kind = MediaKind::video;
    std::uint32_t timescale = kVideoTimescale;  // ticks per second
    std::uint16_t width = 0;                    // video
    std::uint16_t height = 0;
    double frames_per_second = 0;            // video; 0 if not in the configuration
    std::uint16_t channels = 0;              // audio
    std::uint32_t sample_rate = 0;           // audio, in Hz
    std::uint32_t sample_ticks = 0;          // duration of each sample if fixed by the codec, else 0
    std::string codecs;                      // "avc1.64001f", "mp4a.40.2", ...
    std::vector<std::uint8_t> sample_entry;  // the complete box

    bool operator==(const TrackFormat&) const = default;
};

// From the record that FLV and MP4 share. Errors of the codec's parser; Errc::limit when the frame size does not fit the header.
Result<TrackFormat> avc_format(Bytes record);
Result<TrackFormat> hevc_format(Bytes record);
// `picture` is from a key frame. Without it, the AV1 size is taken from the record; Errc::not_found when the record lacks it.
Result<TrackFormat> av1_format(Bytes record, const codec::SpsInfo* picture = nullptr);
// Accepts the record with or without the four bytes of a full box before it; writers differ.
Result<TrackFormat> vp9_format(Bytes record, const codec::SpsInfo& picture);

Result<TrackFormat> aac_format(Bytes config);
Result<TrackFormat> opus_format(Bytes head);
// The STREAMINFO block, with or without block header and "fLaC" before it.
Result<TrackFormat> flac_format(Bytes header);
// From the first frame, since MP3 has no configuration.
Result<TrackFormat> mp3_format(Bytes frame);

}  // namespace live::wire::mp4
