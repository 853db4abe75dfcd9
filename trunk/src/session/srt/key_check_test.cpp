#include "session/srt/key_check.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "engine/srt/crypto.hpp"
#include "io/loop.hpp"
#include "io/off_loop.hpp"

namespace live::session::srt {
namespace {

struct Held {
    std::atomic<bool> is_running = false;
    std::atomic<bool> goes = false;
};

// Keeps the thread for newcomers.
class Obstacle final : public io::Job {
public:
    explicit Obstacle(std::shared_ptr<Held> held) : Job(io::Work::arrival), held_(std::move(held)) {}
    void run() override {
        held_->is_running = true;
        while (!held_->goes)
            std::this_thread::yield();
    }

private:
    const std::shared_ptr<Held> held_;  // owners: the test and the worker
};

TEST(SrtKeyCheck, ManyNewcomersAtOnceAreNotRefused) {
    const auto loop = MUST(io::Loop::create());
    const auto held = std::make_shared<Held>();
    MUST(io::start_job(std::make_shared<Obstacle>(held)));
    while (!held->is_running)
        MUST(io::yield(io::Deadline::never()));
    while (io::start_job(std::make_shared<Obstacle>(held)).ok()) {
    }
    const engine::srt::Salt salt{1, 2, 3};
    const auto derived = derive_key("a long secret", salt, 16, io::Deadline::after(std::chrono::seconds(1)));
    held->goes = true;
    ASSERT_TRUE(derived.ok());
    EXPECT_EQ(derived->bytes, MUST(engine::srt::derive_key("a long secret", salt, 16)).bytes);
}

}  // namespace
}  // namespace live::session::srt
