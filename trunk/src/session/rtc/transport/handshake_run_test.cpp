// Whole sessions whose handshakes are done in the worker thread for arrivals, which the tests can hold up.
#include <atomic>
#include <thread>

#include "io/fibers/off_loop.hpp"
#include "io/threads/worker_pool.hpp"
#include "session/rtc/session_fixture.hpp"

namespace live::session::rtc {
namespace {

using wire::sdp::Purpose;

constexpr auto kArrival = static_cast<std::size_t>(io::Work::arrival);
static_assert(io::WorkerPool::kThreads[kArrival] == 1);

class Obstacle final : public io::Job {
public:
    Obstacle() : Job(io::Work::arrival) {}
    void run() override {
        is_running = true;
        while (!goes)
            std::this_thread::yield();
    }
    std::atomic<bool> is_running = false;
    std::atomic<bool> goes = false;
};

struct HandshakeRunTest : SessionFixture {
    HandshakeRunTest() { opener->set_handshake_thread(true); }
    ~HandshakeRunTest() override { release(); }

    void hold_up() {
        obstacle = std::make_shared<Obstacle>();  // owners: the test and the worker
        ASSERT_TRUE(io::start_job(obstacle).ok());
        while (!obstacle->is_running)
            ASSERT_TRUE(io::yield(io::Deadline::never()).ok());
    }
    void release() {
        if (obstacle != nullptr)
            obstacle->goes = true;
    }
    // A client whose offer was answered, and that has begun its handshake.
    std::unique_ptr<TestClient> arrive(Purpose purpose) {
        const auto opened = open(purpose);
        EXPECT_TRUE(opened.ok());
        session = opened->session;
        token = opened->token;
        auto client = std::make_unique<TestClient>(*client_context, opened->answer, purpose, server);
        client->run(60ms);
        return client;
    }

    std::shared_ptr<Obstacle> obstacle;  // owners: the test and the worker
    std::string session;
    std::string token;
};

TEST_F(HandshakeRunTest, PublishersAndPlayersConnectWithItAndWithout) {
    for (const bool on : {true, false}) {
        opener->set_handshake_thread(on);
        const auto publisher = come(Purpose::publish);
        const auto player = come(Purpose::play);
        publisher->send(MediaKind::audio, 1, 960, std::vector<std::uint8_t>{1, 2, 3});
        player->run(30ms);
        EXPECT_FALSE(player->media.empty());
        EXPECT_EQ(port->half_open(), 0U);
        EXPECT_EQ(port->memory().dtls_objects, 1U) << "the publisher's";
        clients.for_each([](ClientEntry& entry) { entry.kick("the next round"); });
        publisher->run(50ms);
        EXPECT_EQ(port->sessions(), 0U);
    }
}

TEST_F(HandshakeRunTest, HandshakeWaitsForThreadWhileLoopContinues) {
    hold_up();
    const auto client = arrive(Purpose::publish);
    EXPECT_EQ(port->half_open(), 1U);
    EXPECT_EQ(port->memory().dtls_objects, 1U);
    EXPECT_EQ(port->figures().sent, port->figures().stun) << "answers to checks only";
    release();
    EXPECT_TRUE(client->connect());
    client->step();
    EXPECT_EQ(port->half_open(), 0U);
}

TEST_F(HandshakeRunTest, ASessionMayEndWhileItsStepIsOut) {
    for (const Purpose purpose : {Purpose::publish, Purpose::play}) {
        hold_up();
        const auto client = arrive(purpose);
        EXPECT_EQ(port->memory().dtls_objects, 1U);
        ASSERT_TRUE(opener->close(session, token).ok());
        client->run(3 * TimerWheel::kTick);
        EXPECT_EQ(port->sessions(), 0U);
        EXPECT_EQ(port->memory().dtls_objects, 0U);
        release();
        client->run(50ms);
        const auto next = come(purpose);
        clients.for_each([](ClientEntry& entry) { entry.kick("the next round"); });
        next->run(50ms);
        EXPECT_EQ(port->sessions(), 0U);
    }
}

TEST_F(HandshakeRunTest, TheLoopRefusesWhenTooManyWait) {
    hold_up();
    for (std::size_t i = 0; i < io::WorkerPool::kQueuedMax[kArrival]; ++i) {
        auto waits = std::make_shared<Obstacle>();  // owner: the worker
        waits->goes = true;
        ASSERT_TRUE(io::start_job(std::move(waits)).ok());
    }
    const auto client = arrive(Purpose::play);
    client->run(3 * TimerWheel::kTick);
    EXPECT_EQ(port->sessions(), 0U) << "the handshake is not done in the loop";
    EXPECT_EQ(places.refused(ConnectionLimits::Reason::handshakes), 1U);
    EXPECT_FALSE(obstacle->goes);
}

}  // namespace
}  // namespace live::session::rtc
