#include "service/transcode/off_loop_transcoder.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "io/fibers/off_loop.hpp"

namespace live::service::transcode {

// Its owners are the OffLoopTranscoder and, while it works, the worker pool; `keeps_` has further owners. Only one of them
// touches the members at a time: a worker thread while it has the job, the loop before and after. So neither the transcoder nor
// the slices that it makes need a lock or an atomic counter.
class OffLoopTranscoder::Work final : public io::Job {
public:
    Work(std::shared_ptr<const void> keeps, std::unique_ptr<media::AudioTranscoder> transcoder)
        : Job(io::Work::compute), keeps_(std::move(keeps)), transcoder_(std::move(transcoder)) {}

    void run() override {
        for (const Frame& frame : in) {
            if (auto pushed = transcoder_->push(frame.data, frame.time); !pushed.ok())
                out.emplace_back(std::move(pushed).error());
            take_output();
        }
        in.clear();
    }

    std::vector<Frame> in;
    std::vector<Result<media::AudioFrame>> out;

private:
    void take_output() {
        for (;;) {
            auto frame = transcoder_->poll();
            if (!frame.ok())
                out.emplace_back(std::move(frame).error());
            else if (frame->has_value())
                out.emplace_back(**std::move(frame));
            else
                return;
        }
    }

    std::shared_ptr<const void> keeps_;
    std::unique_ptr<media::AudioTranscoder> transcoder_;
};

OffLoopTranscoder::OffLoopTranscoder(std::unique_ptr<media::AudioTranscoder> transcoder, std::shared_ptr<const void> keeps,
                                     media::AudioListener& listener, AudioPump& pump)
    : listener_(listener),
      pump_(pump),
      config_(transcoder->config().begin(), transcoder->config().end()),
      work_(std::make_shared<Work>(std::move(keeps), std::move(transcoder))) {
    work_->done.set_waiter(this);
}

OffLoopTranscoder::~OffLoopTranscoder() {
    work_->done.set_waiter(nullptr);
    work_->abandoned.store(true);
    pump_.forget(*this);
}

Result<void> OffLoopTranscoder::push(Bytes frame, MediaTime time) {
    if (frame.size() > kFrameBytesMax)
        return Error(Errc::limit, "a audio frame of " + std::to_string(frame.size()) + " bytes");
    if (in_work_ + waiting_.size() >= kFramesMax || waiting_bytes_ >= kBytesMax)
        return Error(Errc::limit, "too much audio of this stream waits for the worker threads");
    waiting_.push_back({{frame.begin(), frame.end()}, time});
    waiting_bytes_ += frame.size();
    if (in_work_ == 0)
        start();
    return {};
}

void OffLoopTranscoder::start() {
    CHECK(in_work_ == 0 && work_->in.empty());
    const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kFramesAtOnce));
    work_->in.assign(std::move_iterator(waiting_.begin()), std::move_iterator(waiting_.begin() + count));
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    for (const Frame& frame : work_->in)
        waiting_bytes_ -= frame.data.size();
    in_work_ = work_->in.size();
    const auto started = io::start_job(work_);
    if (started.ok())
        return;
    // More streams than the threads' queue takes: every dropped frame is reported.
    for (std::size_t left = in_work_ + waiting_.size(); left > 0; --left)
        ready_.emplace_back(started.error());
    work_->in.clear();
    waiting_.clear();
    in_work_ = waiting_bytes_ = 0;
    pump_.add(*this);
}

void OffLoopTranscoder::on_raised() {
    work_->done.consume();
    in_work_ = 0;
    std::ranges::move(work_->out, std::back_inserter(ready_));
    work_->out.clear();
    if (!waiting_.empty())
        start();
    if (!ready_.empty())
        pump_.add(*this);
}

Result<std::optional<media::AudioFrame>> OffLoopTranscoder::poll() {
    if (ready_.empty())
        return std::optional<media::AudioFrame>();
    Result<media::AudioFrame> next = std::move(ready_.front());
    ready_.pop_front();
    if (!next.ok())
        return std::move(next).error();
    return std::optional(*std::move(next));
}

}  // namespace live::service::transcode
