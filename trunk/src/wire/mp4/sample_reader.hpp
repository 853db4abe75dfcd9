// From FLV tag bodies, which is what media packets carry, to tracks and samples: one per stream of packets. It keeps the decoder
// configurations and says what changed; the writers know nothing of FLV.
//
// Knows H.264, HEVC, AV1 and VP9, and AAC, Opus, FLAC and MP3. Of a multitrack stream it follows the track that its first
// configuration named.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "wire/flv/audio_tag.hpp"
#include "wire/flv/video_tag.hpp"
#include "wire/mp4/sample.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

class SampleReader {
public:
    static bool carries(flv::VideoCodec codec);
    static bool carries(flv::AudioCodec codec);

    // The sample in one FLV tag body: none for configurations, metadata, and what comes before its track is known. Push the
    // newest configurations before the first frames.
    //
    // Errc::unsupported: MP4 here cannot carry this codec, and the track is gone. Errc::malformed, Errc::limit, Errc::need_more:
    // this body is lost, what was known before stands.
    Result<std::optional<Sample>> push_video(MediaTime dts, const Slice& body);
    Result<std::optional<Sample>> push_audio(MediaTime dts, const Slice& body);

    // Known from the configuration on; for MP3, VP9, and AV1 without one in its record, from the first frame that says it.
    const std::optional<TrackFormat>& video() const { return video_.format; }
    const std::optional<TrackFormat>& audio() const { return audio_.format; }
    // Counts changes of either, the first included. The same configuration once more, or metadata about colours, is none.
    std::uint32_t version() const { return version_; }

private:
    template <class Codec>
    struct Track {
        Codec codec = Codec::none;  // of the configuration, or of MP3's frames
        int id = 0;
        std::vector<std::uint8_t> config;  // of codecs whose frames say the rest
        std::optional<TrackFormat> format;
    };
    using VideoTrack = Track<flv::VideoCodec>;
    using AudioTrack = Track<flv::AudioCodec>;

    Result<void> set_video_config(const flv::VideoTag& tag);
    Result<void> set_audio_config(const flv::AudioTag& tag);
    // What only a key frame says.
    Result<void> complete_video(const flv::VideoTag& tag);
    template <class Codec>
    void set(Track<Codec>& track, Codec codec, int id, std::optional<TrackFormat> format);
    template <class Codec>
    Error drop(Track<Codec>& track, Codec codec);

    VideoTrack video_;
    AudioTrack audio_;
    std::uint32_t version_ = 0;
};

}  // namespace live::wire::mp4
