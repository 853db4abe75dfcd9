// OffLoopTranscoder: an AudioTranscoder that lets another one work in a worker thread. Frames are copied into a bounded queue and
// go to the worker a few at a time, in order; never are two parts of one stream's audio in two threads. What comes of them is
// there for poll() when the loop has been told, and then the listener is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/signal.hpp"
#include "media/audio_transcoder.hpp"
#include "service/transcode/audio_pump.hpp"

namespace live::service::transcode {

class OffLoopTranscoder final : public media::AudioTranscoder, private Signal::Waiter, private AudioPump::Client {
public:
    // Of one stream, in the queue and in the worker: some ten seconds of audio. AudioMeter lets five come at once.
    static constexpr std::size_t kFramesMax = 512;
    // The queue takes no further frame when it has so much.
    static constexpr std::size_t kBytesMax = 1 << 20;
    static constexpr std::size_t kFrameBytesMax = 64 << 10;
    // That go to the worker together: a stream with a backlog is not to hold up the others.
    static constexpr std::size_t kFramesAtOnce = 8;

    // `transcoder` answers in push() and poll(), and is used in worker threads only; it ends with this, or when the worker lets
    // go of it, which may be later. `keeps`, what it needs until then, is shared with it. The others outlive this.
    OffLoopTranscoder(std::unique_ptr<media::AudioTranscoder> transcoder, std::shared_ptr<const void> keeps,
                      media::AudioListener& listener, AudioPump& pump);
    ~OffLoopTranscoder() override;
    OffLoopTranscoder(const OffLoopTranscoder&) = delete;
    OffLoopTranscoder& operator=(const OffLoopTranscoder&) = delete;

    // Errc::limit: a frame beyond the bounds, which is left out.
    Result<void> push(Bytes frame, MediaTime time) override;
    Result<std::optional<media::AudioFrame>> poll() override;
    Bytes config() const override { return config_; }
    bool is_idle() const override { return in_work_ == 0 && waiting_.empty() && ready_.empty(); }

private:
    class Work;
    struct Frame {
        std::vector<std::uint8_t> data;
        MediaTime time{};
    };

    void start();
    // The worker has done its part.
    void on_raised() override;
    void tell() override { listener_.on_audio(); }

    media::AudioListener& listener_;
    AudioPump& pump_;
    const std::vector<std::uint8_t> config_;
    std::deque<Frame> waiting_;
    std::size_t waiting_bytes_ = 0;
    // The second owner is the worker.
    std::shared_ptr<Work> work_;
    std::size_t in_work_ = 0;  // frames that the worker has; it has `work_` to itself then
    std::deque<Result<media::AudioFrame>> ready_;
};

}  // namespace live::service::transcode
