// TranscoderFactory: creates the audio transcoders for streams between RTMP and WebRTC; they work in worker threads. app passes
// it to the stream table.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "service/service.hpp"
#include "service/transcode/audio_pump.hpp"

namespace live::service::transcode {

class AvLibrary;

class TranscoderFactory final : public Service, public media::AudioTranscoders {
public:
    // Limit for loading libraries from disk.
    static constexpr std::chrono::seconds kLoadLimit{5};

    // `is_wanted` answers for the coming settings during a reload, otherwise for the current ones.
    TranscoderFactory(std::function<bool()> is_wanted, Log log) : is_wanted_(std::move(is_wanted)), log_(std::move(log)) {}
    // Outlives its transcoders, and the fiber.
    ~TranscoderFactory() override;
    TranscoderFactory(const TranscoderFactory&) = delete;
    TranscoderFactory& operator=(const TranscoderFactory&) = delete;

    // Starts the fiber that notifies streams of their audio; then as prepare().
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override {
        TRY(pump_.start(fibers));
        return prepare(deadline);
    }
    // Where conversion is enabled, the libraries are loaded before a stream needs them. Missing libraries are logged.
    Result<void> prepare(io::Deadline deadline) override {
        const auto loaded = is_wanted_() ? load(deadline.sooner(io::Deadline::after(kLoadLimit))) : Result<void>();
        if (!loaded.ok())
            log_.write(LogLevel::warn, "audio cannot be converted between RTMP and WebRTC: " + loaded.error().sentence());
        return {};
    }
    std::string_view name() const override { return "the conversion of audio"; }
    // Loads the libraries, once, in a worker thread: about 80 ms. Errc::unsupported when they are not on this machine, or this
    // server was built without them; Errc::timed_out, Errc::cancelled: it may be retried.
    Result<void> load(io::Deadline deadline);
    // Errc::unsupported also before they are loaded.
    Result<std::unique_ptr<media::AudioTranscoder>> create(const media::Transcoding& what,
                                                           media::AudioListener& listener) override;

private:
    const std::function<bool()> is_wanted_;
    Log log_;
    // The other owners are transcoders: one may still be working in a thread after the end of its stream.
    std::shared_ptr<const AvLibrary> library_;
    std::optional<Error> failed_;  // loading failed; it is not retried
    AudioPump pump_;
};

}  // namespace live::service::transcode
