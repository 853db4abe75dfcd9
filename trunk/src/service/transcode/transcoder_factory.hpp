// TranscoderFactory: makes the transcoders of sound that streams between RTMP and WebRTC need; they work in worker threads. Main
// hands it to the stream table.
#pragma once

#include <memory>
#include <optional>

#include "io/deadline.hpp"
#include "media/audio_transcoder.hpp"
#include "service/transcode/sound_pump.hpp"

namespace live::service::transcode {

class AvLibrary;

class TranscoderFactory final : public media::AudioTranscoders {
public:
    TranscoderFactory();
    // Outlives what it made, and the fiber.
    ~TranscoderFactory();
    TranscoderFactory(const TranscoderFactory&) = delete;
    TranscoderFactory& operator=(const TranscoderFactory&) = delete;

    // Starts the fiber that tells streams of their sound; it ends with the scope.
    Result<void> start(io::Scope& scope) { return pump_.start(scope); }
    // Loads the libraries, once, in a worker thread: some 80 ms. Errc::unsupported when they are not on this machine, or this
    // server was built without them; Errc::timed_out, Errc::cancelled: it may be tried again.
    Result<void> load(io::Deadline deadline);
    // Errc::unsupported before they are loaded, too.
    Result<std::unique_ptr<media::AudioTranscoder>> create(const media::Transcoding& what,
                                                           media::SoundListener& listener) override;

private:
    // The other owners are transcoders: one that has gone may still be at work in a thread.
    std::shared_ptr<const AvLibrary> library_;
    std::optional<Error> failed_;  // loading; it is not tried again
    SoundPump pump_;
};

}  // namespace live::service::transcode
