#include "session/srt/key_check.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "engine/srt/handshake/crypto.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "session/limits/handshake_room.hpp"

namespace live::session::srt {
namespace {

struct Held {
    std::atomic<bool> is_running = false;
    std::atomic<bool> goes = false;
};

// Occupies the thread for new connections.
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

TEST(SrtKeyCheck, RefusesNewConnectionsWhenTooManyWait) {
    const auto loop = MUST(io::Loop::create());
    const auto held = std::make_shared<Held>();
    MUST(io::start_job(std::make_shared<Obstacle>(held)));
    while (!held->is_running)
        MUST(io::yield(io::Deadline::never()));
    while (io::start_job(std::make_shared<Obstacle>(held)).ok()) {
    }
    const Log log;
    ConnectionLimits places(10, log);
    const engine::srt::Salt salt{1, 2, 3};
    const auto soon = io::Deadline::after(io::kSoon);
    const auto refused = derive_client_key(places, "192.0.2.1", "a long secret", salt, 16, soon);
    EXPECT_EQ(refused.code(), Errc::limit);
    EXPECT_EQ(key_reject_reason_of(refused.error()), engine::srt::RejectReason::overload);
    EXPECT_EQ(places.refused(ConnectionLimits::Reason::handshakes), 1U);
    // Calls of this server do not wait for handshakes of unknown clients.
    const auto own = derive_key("a long secret", salt, 16, soon);
    held->goes = true;
    ASSERT_TRUE(own.ok());
    EXPECT_EQ(own->bytes, MUST(engine::srt::derive_key("a long secret", salt, 16)).bytes);
    io::wait_until([&] { return check_handshake_room(places, "192.0.2.1", io::now()).ok(); });
    EXPECT_EQ(MUST(derive_client_key(places, "192.0.2.1", "a long secret", salt, 16, soon)).bytes, own->bytes);
}

}  // namespace
}  // namespace live::session::srt
