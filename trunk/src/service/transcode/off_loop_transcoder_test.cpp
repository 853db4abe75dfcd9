// A transcoder that works and waits on command runs in the worker threads; libavcodec is not needed here.
#include "service/transcode/off_loop_transcoder.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/threads/worker_pool.hpp"

namespace live::service::transcode {
namespace {

using Octets = std::vector<std::uint8_t>;

// State shared by the threads and the test.
struct Bench {
    std::atomic<bool> go = true;
    std::atomic<int> at_work = 0;
    std::atomic<int> at_work_max = 0;
    std::atomic<int> living = 0;
    std::atomic<bool> was_in_loop = false;
    const decltype(std::this_thread::get_id()) loop = std::this_thread::get_id();
};

// Returns a frame, and a second one when its first byte is even. 0xEE is an error.
class SlowEcho final : public media::AudioTranscoder {
public:
    explicit SlowEcho(std::shared_ptr<Bench> bench) : bench_(std::move(bench)) { ++bench_->living; }
    ~SlowEcho() override { --bench_->living; }
    Result<void> push(Bytes frame, MediaTime time) override {
        bench_->was_in_loop = bench_->was_in_loop || std::this_thread::get_id() == bench_->loop;
        bench_->at_work_max = std::max(bench_->at_work_max.load(), ++bench_->at_work);
        while (!bench_->go)
            std::this_thread::yield();
        --bench_->at_work;
        if (!frame.empty() && frame[0] == 0xEE)
            return Error(Errc::malformed, "broken on purpose");
        ready_.push_back({Slice::copy_of(frame), time});
        if (!frame.empty() && frame[0] % 2 == 0)
            ready_.push_back({Slice::copy_of(frame), time + 1us});
        return {};
    }
    Result<std::optional<media::AudioFrame>> poll() override {
        if (ready_.empty())
            return std::optional<media::AudioFrame>();
        media::AudioFrame frame = std::move(ready_.front());
        ready_.pop_front();
        return std::optional(std::move(frame));
    }
    Bytes config() const override { return config_; }
    bool is_idle() const override { return ready_.empty(); }

private:
    std::shared_ptr<Bench> bench_;
    std::deque<media::AudioFrame> ready_;
    const Octets config_{0x11, 0x90};
};

class OffLoopTranscoderTest : public testing::Test, public media::AudioListener {
protected:
    OffLoopTranscoderTest() { MUST(pump_.start(scope_)); }
    ~OffLoopTranscoderTest() override {
        bench_->go = true;
        transcoder_.reset();
        MUST(scope_.stop(io::Deadline::after(io::kSoon)));
    }
    std::unique_ptr<OffLoopTranscoder> make() {
        return std::make_unique<OffLoopTranscoder>(std::make_unique<SlowEcho>(bench_), nullptr, *this, pump_);
    }
    Result<void> push(int number) { return transcoder_->push(Octets{static_cast<std::uint8_t>(number % 0xEE)}, number * 20ms); }

    const std::shared_ptr<Bench> bench_ = std::make_shared<Bench>();  // its other owners are transcoders in worker threads
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    io::Scope scope_{"test"};
    AudioPump pump_;
    std::unique_ptr<OffLoopTranscoder> transcoder_ = make();
    std::vector<MediaTime> converted_;
    std::size_t errors_ = 0;
    std::size_t notified_ = 0;

private:
    void on_audio() override {
        ++notified_;
        const io::NoSuspend guard;
        for (;;) {
            auto frame = transcoder_->poll();
            if (!frame.ok())
                ++errors_;
            else if (frame->has_value())
                converted_.push_back((*frame)->time);
            else
                return;
        }
    }
};

TEST_F(OffLoopTranscoderTest, KeepsTheOrderAndNeedsNoFurtherPushForTheLast) {
    std::vector<MediaTime> expected;
    for (int i = 0; i < 400; ++i) {
        ASSERT_TRUE(push(i).ok());
        expected.push_back(i * 20ms);
        if (i % 0xEE % 2 == 0)
            expected.push_back(i * 20ms + 1us);
        if (i % 7 == 0)
            MUST(io::yield(io::Deadline::never()));
    }
    EXPECT_FALSE(transcoder_->is_idle());
    io::wait_until([&] { return transcoder_->is_idle(); });
    EXPECT_EQ(converted_, expected);
    EXPECT_EQ(bench_->at_work_max, 1) << "never two frames of one stream at once";
    EXPECT_FALSE(bench_->was_in_loop);
}

TEST_F(OffLoopTranscoderTest, DoesNotHoldTheLoop) {
    bench_->go = false;
    ASSERT_TRUE(push(1).ok());
    io::wait_until([&] { return bench_->at_work == 1; });
    EXPECT_TRUE(converted_.empty());
    bench_->go = true;
    io::wait_until([&] { return converted_.size() == 1; });
    EXPECT_EQ(notified_, 1U);
}

TEST_F(OffLoopTranscoderTest, DropsFramesBeyondTheBound) {
    bench_->go = false;
    for (std::size_t i = 0; i < OffLoopTranscoder::kFramesMax; ++i)
        ASSERT_TRUE(push(1).ok()) << i;
    const auto refused = push(1);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), Errc::limit);
    bench_->go = true;
    io::wait_until([&] { return transcoder_->is_idle(); });
    EXPECT_EQ(converted_.size(), OffLoopTranscoder::kFramesMax);
    EXPECT_TRUE(push(1).ok());
    io::wait_until([&] { return transcoder_->is_idle(); });
    EXPECT_EQ(converted_.size(), OffLoopTranscoder::kFramesMax + 1);
}

TEST_F(OffLoopTranscoderTest, DropsBytesBeyondTheBound) {
    const Octets large(OffLoopTranscoder::kFrameBytesMax, 1);
    EXPECT_EQ(transcoder_->push(Octets(large.size() + 1, 1), 0ms).code(), Errc::limit);
    bench_->go = false;
    ASSERT_TRUE(push(1).ok());  // the worker has this one
    for (std::size_t bytes = 0; bytes < OffLoopTranscoder::kBytesMax; bytes += large.size())
        ASSERT_TRUE(transcoder_->push(large, 20ms).ok());
    EXPECT_FALSE(transcoder_->push(large, 20ms).ok());
    EXPECT_FALSE(push(1).ok());
}

TEST_F(OffLoopTranscoderTest, ReportsAnErrorForOneFrame) {
    ASSERT_TRUE(push(1).ok());
    ASSERT_TRUE(transcoder_->push(Octets{0xEE}, 20ms).ok());
    ASSERT_TRUE(push(2).ok());
    io::wait_until([&] { return transcoder_->is_idle(); });
    EXPECT_EQ(errors_, 1U);
    EXPECT_EQ(converted_.size(), 3U);
    EXPECT_EQ(Octets(transcoder_->config().begin(), transcoder_->config().end()), (Octets{0x11, 0x90}));
}

TEST_F(OffLoopTranscoderTest, MayBeDestroyedDuringAJob) {
    bench_->go = false;
    ASSERT_TRUE(push(1).ok());
    io::wait_until([&] { return bench_->at_work == 1; });
    ASSERT_TRUE(push(1).ok());
    transcoder_.reset();
    EXPECT_EQ(bench_->living, 1) << "the worker still uses it";
    bench_->go = true;
    io::wait_until([&] { return bench_->living == 0; });
    EXPECT_TRUE(converted_.empty());
    // Output that nobody was notified of is discarded too.
    transcoder_ = make();
    ASSERT_TRUE(push(1).ok());
    const auto limit = io::Deadline::after(io::kSoon);
    while (!limit.expired() && transcoder_ != nullptr) {
        MUST(io::yield(io::Deadline::never()));
        if (const auto frame = transcoder_->poll(); frame.ok() && frame->has_value())
            transcoder_.reset();
        else if (!converted_.empty())
            break;
    }
}

// Beyond that all streams' audio would be delayed without bound.
TEST_F(OffLoopTranscoderTest, NotifiesStreamsBeyondTheThreadQueue) {
    constexpr auto kKind = static_cast<std::size_t>(io::Work::compute);
    bench_->go = false;
    std::vector<std::unique_ptr<OffLoopTranscoder>> others;
    const auto one_more = [&] {
        others.push_back(make());
        ASSERT_TRUE(others.back()->push(Octets{1}, 0ms).ok());
    };
    for (std::size_t i = 0; i < io::WorkerPool::kThreads[kKind]; ++i)
        one_more();
    io::wait_until([&] { return bench_->at_work == static_cast<int>(io::WorkerPool::kThreads[kKind]); });
    for (std::size_t i = 0; i < io::WorkerPool::kQueuedMax[kKind]; ++i)
        one_more();
    ASSERT_TRUE(push(1).ok());
    io::wait_until([&] { return errors_ == 1; });
    EXPECT_TRUE(transcoder_->is_idle());
    others.clear();
    bench_->go = true;
    io::wait_until([&] { return bench_->living == 1; });
    ASSERT_TRUE(push(1).ok());
    io::wait_until([&] { return converted_.size() == 1; });
}

}  // namespace
}  // namespace live::service::transcode
