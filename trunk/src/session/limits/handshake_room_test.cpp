#include "session/limits/handshake_room.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"

namespace live::session {
namespace {

constexpr auto kArrival = static_cast<std::size_t>(io::Work::arrival);

class Obstacle final : public io::Job {
public:
    explicit Obstacle(const std::optional<io::Party>& whose = {}) : Job(io::Work::arrival, whose) {}
    void run() override {
        is_running = true;
        while (!goes)
            std::this_thread::yield();
    }
    std::atomic<bool> is_running = false;
    std::atomic<bool> goes = false;
};

struct HandshakeRoom : ::testing::Test {
    HandshakeRoom() {
        MUST(io::start_job(obstacle));
        while (!obstacle->is_running)
            MUST(io::yield(io::Deadline::never()));
    }
    ~HandshakeRoom() override { obstacle->goes = true; }

    // Takes room until none is left, and returns how often that succeeded.
    std::size_t fill(std::string_view ip) {
        std::size_t count = 0;
        while (check_handshake_room(places, ip, now).ok()) {
            const auto one = std::make_shared<Obstacle>(handshake_party(places, ip));  // owner: the worker
            one->goes = true;
            MUST(io::start_job(one));
            ++count;
        }
        return count;
    }

    Log log;
    ConnectionLimits places{10, log};
    TimePoint now = TimePoint() + std::chrono::hours(1);
    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    std::shared_ptr<Obstacle> obstacle = std::make_shared<Obstacle>();  // owners: the test and the worker
};

TEST_F(HandshakeRoom, AnAddressHasAShareOfTheQueue) {
    EXPECT_EQ(fill("192.0.2.1"), io::WorkerPool::kQueuedPerParty);
    EXPECT_EQ(places.refused(ConnectionLimits::Reason::handshakes_per_ip), 1U);
    EXPECT_EQ(fill("2001:db8::1"), io::WorkerPool::kQueuedPerParty);
    EXPECT_FALSE(check_handshake_room(places, "2001:db8::2", now).ok()) << "a network of 64 bits is one address";
    EXPECT_TRUE(check_handshake_room(places, "192.0.2.2", now).ok());
    EXPECT_EQ(places.refused(ConnectionLimits::Reason::handshakes), 0U);
}

TEST_F(HandshakeRoom, TheQueueIsBoundedForEverybody) {
    EXPECT_EQ(fill("127.0.0.1"), io::WorkerPool::kQueuedMax[kArrival]) << "a trusted address has no share";
    const auto refused = check_handshake_room(places, "192.0.2.2", now);
    EXPECT_EQ(refused.code(), Errc::limit);
    EXPECT_NE(refused.error().sentence().find("handshakes"), std::string::npos);
    EXPECT_EQ(places.refused(ConnectionLimits::Reason::handshakes), 2U);
}

}  // namespace
}  // namespace live::session
