// Converts frames to MP4 tracks and samples; one reader per stream. It keeps the decoder configurations and reports changes.
//
// Supports H.264, HEVC, AV1 and VP9, and AAC, Opus, FLAC and MP3. In a multitrack stream it follows the track of the first
// configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "wire/codec/frame.hpp"
#include "wire/mp4/sample.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

class SampleReader {
public:
    static bool carries(codec::Codec codec);

    // Returns the sample of one frame, sharing its data: nullopt for configurations, other content, and frames before the track
    // is known. Push the newest configurations before the first frames.
    //
    // Errc::unsupported: the codec cannot be carried in MP4 here, and the track is removed. Errc::malformed, Errc::limit,
    // Errc::need_more: this frame is lost; the state before it is kept.
    Result<std::optional<Sample>> push_video(const codec::Frame& frame);
    Result<std::optional<Sample>> push_audio(const codec::Frame& frame);

    // Set by the configuration; for MP3, VP9, and AV1 without a sequence header in its record, by the first frame that contains
    // it.
    const std::optional<TrackFormat>& video() const { return video_.format; }
    const std::optional<TrackFormat>& audio() const { return audio_.format; }
    // Counts changes of either, including the first. A repeated configuration, or color metadata, does not count.
    std::uint32_t version() const { return version_; }

private:
    using Codec = codec::Codec;
    struct Track {
        Codec codec = Codec::none;         // of the configuration, or of the frames for MP3
        std::vector<std::uint8_t> config;  // kept for codecs whose frames carry the rest
        std::optional<TrackFormat> format;
    };

    Result<void> set_video_config(const codec::Frame& frame);
    Result<void> set_audio_config(const codec::Frame& frame);
    // Completes the format with information found only in key frames.
    Result<void> complete_video(const codec::Frame& frame);
    void set(Track& track, const codec::Frame& frame, std::optional<TrackFormat> format);
    Error drop(Track& track, Codec codec);

    Track video_;
    Track audio_;
    std::uint32_t version_ = 0;
};

}  // namespace live::wire::mp4
