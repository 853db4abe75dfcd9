#include "service/files/stream_jobs.hpp"

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::files {
namespace {

using io::kSoon;

// Runs until cancelled; its files take a few more loop iterations.
class SlowOutput {
public:
    SlowOutput(std::string url, int& written) : url_(std::move(url)), written_(written) {}
    void run(io::Deadline deadline) {
        static_cast<void>(io::sleep(deadline));
        over_ = true;
        made_.raise();
    }
    void run_files(io::Deadline deadline) {
        if (!io::wait(made_, deadline).ok())
            return;
        for (int turn = 0; turn < 5; ++turn)
            static_cast<void>(io::yield(deadline));
        ++written_;
    }
    void close_files() { made_.raise(); }
    bool is_over() const { return over_; }
    const std::string& url() const { return url_; }
    std::size_t held_bytes() const { return is_given_up ? 0 : 100; }
    bool is_published() const { return published; }
    void give_up() { is_given_up = true; }

    bool published = true;
    bool is_given_up = false;

private:
    std::string url_;
    int& written_;
    Signal made_;
    bool over_ = false;
};

class StreamJobsTest : public testing::Test {
protected:
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog no_log_;
    int written_ = 0;
    StreamJobs<SlowOutput> jobs_{"test", Log(no_log_, "test")};
};

TEST_F(StreamJobsTest, FindsRunningOutputs) {
    SlowOutput* const one = jobs_.start("/live/one", written_);
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(jobs_.find("/live/one"), one);
    EXPECT_EQ(jobs_.find("/live/two"), nullptr);
    MUST(jobs_.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(jobs_.find("/live/one"), nullptr);
    EXPECT_EQ(written_, 1);
}

TEST_F(StreamJobsTest, ReleasesMemoryWithoutAPublisher) {
    SlowOutput* const one = jobs_.start("/live/one", written_);
    ASSERT_NE(one, nullptr);
    ASSERT_EQ(jobs_.held().size(), 1U);
    EXPECT_EQ(jobs_.held()[0].url, "/live/one");
    EXPECT_EQ(jobs_.held()[0].bytes, 100U);
    EXPECT_TRUE(jobs_.held()[0].is_published);
    jobs_.give_up("/live/one");
    EXPECT_FALSE(one->is_given_up);
    one->published = false;
    jobs_.give_up("/live/two");
    EXPECT_FALSE(one->is_given_up);
    jobs_.give_up("/live/one");
    EXPECT_TRUE(one->is_given_up);
    MUST(jobs_.stop(io::Deadline::after(kSoon)));
    EXPECT_TRUE(jobs_.held().empty());
}

// The periodic reap() continues while the server stops.
TEST_F(StreamJobsTest, ReapDoesNothingDuringAStop) {
    for (const char* url : {"/live/one", "/live/two", "/live/three"})
        ASSERT_NE(jobs_.start(url, written_), nullptr);
    io::Scope others("others");
    MUST(others.start("reaper", [this](io::Deadline deadline) {
        do
            jobs_.reap();
        while (io::yield(deadline).ok());
    }));
    MUST(jobs_.stop(io::Deadline::after(kSoon)));
    EXPECT_EQ(written_, 3);
    EXPECT_EQ(jobs_.size(), 0U);
    MUST(others.stop(io::Deadline::after(kSoon)));
}

}  // namespace
}  // namespace live::service::files
