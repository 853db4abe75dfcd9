// OffLoopTranscoder: an AudioTranscoder that runs another one in a worker thread. Frames are copied into a bounded queue and go
// to the worker a few at a time, in order; audio of one stream is never in two threads. The output is available from poll() once
// the loop has been notified, which then notifies the listener.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/signal.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "service/transcode/audio_pump.hpp"

namespace live::service::transcode {

class OffLoopTranscoder final : public media::AudioTranscoder, private Signal::Waiter, private AudioPump::Client {
public:
    // Per stream, in the queue and in the worker: about ten seconds of audio. AudioMeter lets five arrive at once.
    static constexpr std::size_t kFramesMax = 512;
    // The queue accepts no further frame beyond this size.
    static constexpr std::size_t kBytesMax = 1 << 20;
    static constexpr std::size_t kFrameBytesMax = 64 << 10;
    // Frames per job: a stream with a backlog must not delay the others.
    static constexpr std::size_t kFramesAtOnce = 8;

    // `transcoder` works inside push() and poll(), and is used in worker threads only; it is destroyed with this, or later, when
    // the worker releases it. `keeps`, which it needs until then, is shared with it. The others outlive this.
    OffLoopTranscoder(std::unique_ptr<media::AudioTranscoder> transcoder, std::shared_ptr<const void> keeps,
                      media::AudioListener& listener, AudioPump& pump);
    ~OffLoopTranscoder() override;
    OffLoopTranscoder(const OffLoopTranscoder&) = delete;
    OffLoopTranscoder& operator=(const OffLoopTranscoder&) = delete;

    // Errc::limit: a frame beyond the bounds, which is dropped.
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
    // The worker has finished.
    void on_raised() override;
    void notify() override { listener_.on_audio(); }

    media::AudioListener& listener_;
    AudioPump& pump_;
    const std::vector<std::uint8_t> config_;
    std::deque<Frame> waiting_;
    std::size_t waiting_bytes_ = 0;
    // The second owner is the worker.
    std::shared_ptr<Work> work_;
    std::size_t in_work_ = 0;  // frames in the worker, which then has `work_` to itself
    std::deque<Result<media::AudioFrame>> ready_;
};

}  // namespace live::service::transcode
