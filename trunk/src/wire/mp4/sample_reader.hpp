// From frames to MP4's tracks and samples: one per stream of frames. It keeps the decoder configurations and says what changed.
//
// Knows H.264, HEVC, AV1 and VP9, and AAC, Opus, FLAC and MP3. Of a multitrack stream it follows the track that its first
// configuration named.
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

    // The sample of one frame, whose data it shares: none for configurations, other content, and what comes before its track is
    // known. Push the newest configurations before the first frames.
    //
    // Errc::unsupported: MP4 here cannot carry this codec, and the track is gone. Errc::malformed, Errc::limit, Errc::need_more:
    // this frame is lost, what was known before stands.
    Result<std::optional<Sample>> push_video(const codec::Frame& frame);
    Result<std::optional<Sample>> push_audio(const codec::Frame& frame);

    // Known from the configuration on; for MP3, VP9, and AV1 without one in its record, from the first frame that says it.
    const std::optional<TrackFormat>& video() const { return video_.format; }
    const std::optional<TrackFormat>& audio() const { return audio_.format; }
    // Counts changes of either, the first included. The same configuration once more, or metadata about colours, is none.
    std::uint32_t version() const { return version_; }

private:
    using Codec = codec::Codec;
    struct Track {
        Codec codec = Codec::none;         // of the configuration, or of MP3's frames
        std::vector<std::uint8_t> config;  // of codecs whose frames say the rest
        std::optional<TrackFormat> format;
    };

    Result<void> set_video_config(const codec::Frame& frame);
    Result<void> set_audio_config(const codec::Frame& frame);
    // What only a key frame says.
    Result<void> complete_video(const codec::Frame& frame);
    void set(Track& track, const codec::Frame& frame, std::optional<TrackFormat> format);
    Error drop(Track& track, Codec codec);

    Track video_;
    Track audio_;
    std::uint32_t version_ = 0;
};

}  // namespace live::wire::mp4
