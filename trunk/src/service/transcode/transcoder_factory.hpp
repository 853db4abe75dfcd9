// TranscoderFactory: makes the transcoders of sound that streams between RTMP and WebRTC need. Main hands it to the stream table.
#pragma once

#include <memory>
#include <optional>

#include "media/audio_transcoder.hpp"

namespace live::service::transcode {

class AvLibrary;

class TranscoderFactory final : public media::AudioTranscoders {
public:
    TranscoderFactory();
    // Outlives what it made.
    ~TranscoderFactory();
    TranscoderFactory(const TranscoderFactory&) = delete;
    TranscoderFactory& operator=(const TranscoderFactory&) = delete;

    // Loads the libraries, once: some 80 ms that are better spent at the start than when the first stream needs them.
    // Errc::unsupported when they are not on this machine, or this server was built without them.
    Result<void> load();
    // Loads them if need be.
    Result<std::unique_ptr<media::AudioTranscoder>> create(const media::Transcoding& what) override;

private:
    std::unique_ptr<AvLibrary> library_;
    std::optional<Error> failed_;  // loading; it is not tried again
};

}  // namespace live::service::transcode
