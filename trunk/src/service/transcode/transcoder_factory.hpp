// TranscoderFactory: makes the transcoders of audio that streams between RTMP and WebRTC need; they work in worker threads. Main
// hands it to the stream table.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "io/deadline.hpp"
#include "media/audio_transcoder.hpp"
#include "service/service.hpp"
#include "service/transcode/audio_pump.hpp"

namespace live::service::transcode {

class AvLibrary;

class TranscoderFactory final : public Service, public media::AudioTranscoders {
public:
    // For libraries to be loaded from the disk.
    static constexpr std::chrono::seconds kLoadLimit{5};

    // `is_wanted`: by the settings to come, or those that count.
    TranscoderFactory(std::function<bool()> is_wanted, Log log) : is_wanted_(std::move(is_wanted)), log_(std::move(log)) {}
    // Outlives what it made, and the fiber.
    ~TranscoderFactory() override;
    TranscoderFactory(const TranscoderFactory&) = delete;
    TranscoderFactory& operator=(const TranscoderFactory&) = delete;

    // A fiber that tells streams of their audio; and as prepare().
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override {
        TRY(pump_.start(fibers));
        return prepare(deadline);
    }
    // Where conversion is wanted, the libraries are loaded before a stream needs them. Without them the log says so.
    Result<void> prepare(io::Deadline deadline) override {
        const auto loaded = is_wanted_() ? load(deadline.sooner(io::Deadline::after(kLoadLimit))) : Result<void>();
        if (!loaded.ok())
            log_.write(LogLevel::warn, "audio cannot be converted between RTMP and WebRTC: " + loaded.error().sentence());
        return {};
    }
    std::string_view name() const override { return "the conversion of audio"; }
    // Loads the libraries, once, in a worker thread: some 80 ms. Errc::unsupported when they are not on this machine, or this
    // server was built without them; Errc::timed_out, Errc::cancelled: it may be tried again.
    Result<void> load(io::Deadline deadline);
    // Errc::unsupported before they are loaded, too.
    Result<std::unique_ptr<media::AudioTranscoder>> create(const media::Transcoding& what,
                                                           media::AudioListener& listener) override;

private:
    const std::function<bool()> is_wanted_;
    Log log_;
    // The other owners are transcoders: one that has gone may still be at work in a thread.
    std::shared_ptr<const AvLibrary> library_;
    std::optional<Error> failed_;  // loading; it is not tried again
    AudioPump pump_;
};

}  // namespace live::service::transcode
