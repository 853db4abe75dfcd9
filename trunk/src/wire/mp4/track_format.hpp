// What an MP4 header says of one track: its clock, its size, its sample entry (ISO/IEC 14496-12, 8.5.2) and the name that
// playlists call its codec by (RFC 6381). Made from the decoder configurations that FLV and RTMP carry. What the samples are is
// sample_reader.hpp's business.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/picture.hpp"

namespace live::wire::mp4 {

enum class TrackKind : std::uint8_t { video, audio };

// Ticks a second of every video track.
inline constexpr std::uint32_t kVideoTimescale = 90'000;

struct TrackFormat {
    TrackKind kind = TrackKind::video;
    std::uint32_t timescale = kVideoTimescale;  // ticks a second
    std::uint16_t width = 0;                    // of video
    std::uint16_t height = 0;
    double frames_per_second = 0;            // of video, 0 when the configuration does not say
    std::uint16_t channels = 0;              // of audio
    std::uint32_t sample_rate = 0;           // of audio, in Hz
    std::uint32_t sample_ticks = 0;          // how long each sample lasts, when the codec fixes that; 0 else
    std::string codecs;                      // "avc1.64001f", "mp4a.40.2", ...
    std::vector<std::uint8_t> sample_entry;  // the whole box

    bool operator==(const TrackFormat&) const = default;
};

// From the record that FLV and MP4 share. Errors of the codec's parser; Errc::limit for video too large for the header.
Result<TrackFormat> avc_format(Bytes record);
Result<TrackFormat> hevc_format(Bytes record);
// `frame` as a key frame says it. Without it AV1's comes out of the record; Errc::not_found when that has none.
Result<TrackFormat> av1_format(Bytes record, const codec::SpsInfo* picture = nullptr);
// The record with or without the four bytes of a full box in front, which writers disagree about.
Result<TrackFormat> vp9_format(Bytes record, const codec::SpsInfo& picture);

Result<TrackFormat> aac_format(Bytes config);
Result<TrackFormat> opus_format(Bytes head);
// The STREAMINFO block, with or without block header and the word fLaC in front.
Result<TrackFormat> flac_format(Bytes header);
// From the first frame, as there is no configuration.
Result<TrackFormat> mp3_format(Bytes frame);

}  // namespace live::wire::mp4
