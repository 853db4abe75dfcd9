// A session whose handshake is done elsewhere, in steps that take some time, over the simulated network.
#include <gtest/gtest.h>

#include "engine/webrtc/network_fixture.hpp"

namespace live::engine::webrtc {
namespace {

using wire::sdp::Purpose;
using wire::sdp::SetupRole;

// Up to the server's n-th step, which is then out.
void run_to_step(SessionPair& pair, std::size_t n) {
    for (int i = 0; i < 1'000 && !(pair.steps == n && pair.lent != nullptr); ++i)
        pair.run(1ms);
    ASSERT_EQ(pair.steps, n);
    ASSERT_NE(pair.lent, nullptr);
}

Octets dtls_datagram(std::size_t bytes) {
    Octets made(bytes, 7);
    made[0] = 22;
    return made;
}

TEST(LentHandshake, FinishesAtTwentyPercentLoss) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        for (const auto step_time : {0ms, 30ms, 300ms}) {
            for (const Purpose purpose : {Purpose::publish, Purpose::play}) {
                SessionPair pair({.network = {.seed = seed, .loss = 0.2, .doubled = 0.1, .delay_min = 20ms, .delay_max = 60ms},
                                  .purpose = purpose,
                                  .step_time = step_time});
                EXPECT_TRUE(pair.connect()) << "seed " << seed << ", " << step_time.count() << " ms: " << pair.failure;
                EXPECT_GE(pair.steps, 2U);
            }
        }
    }
}

TEST(LentHandshake, CarriesMedia) {
    for (const Purpose purpose : {Purpose::publish, Purpose::play}) {
        SessionPair pair({.network = {.delay_min = 10ms, .delay_max = 10ms}, .purpose = purpose, .step_time = 5ms});
        ASSERT_TRUE(pair.connect()) << pair.failure;
        EXPECT_EQ(pair.steps, 2U);
        EXPECT_EQ(pair.server->holds_dtls(), purpose == Purpose::publish);
        pair.begin_media();
        pair.run(1s);
        EXPECT_GT(pair.received.size(), 50U);
    }
}

// The server's own timer has passed when the peer's answer is looked at, so its flight is sent once more with the last one.
TEST(LentHandshake, APlayersObjectGoesAlsoWhenTheLastStepIsLate) {
    for (const auto step_time : {60ms, 200ms, 1'500ms}) {
        SessionPair pair({.network = {.delay_min = 5ms, .delay_max = 5ms}, .purpose = Purpose::play, .step_time = step_time});
        ASSERT_TRUE(pair.connect()) << pair.failure;
        EXPECT_FALSE(pair.server->holds_dtls()) << step_time.count();
    }
}

TEST(LentHandshake, RoundTripExcludesTheTimeOfTheStep) {
    SessionPair pair({.network = {.delay_min = 20ms, .delay_max = 20ms}, .step_time = 15ms});
    ASSERT_TRUE(pair.connect()) << pair.failure;
    const auto measured = pair.server->transport().round_trip();
    ASSERT_TRUE(measured);
    EXPECT_GE(*measured, 40ms);
    EXPECT_LT(*measured, 45ms);
}

TEST(LentHandshake, AClientsHandshakeIsNotLent) {
    SessionPair pair({.server_setup = SetupRole::active, .client_setup = SetupRole::passive, .step_time = 5ms});
    EXPECT_TRUE(pair.connect()) << pair.failure;
    EXPECT_EQ(pair.steps, 0U);
}

TEST(LentHandshake, AStrangersCertificateEndsTheSession) {
    SessionPair pair({.server_print = "00:11", .step_time = 5ms});
    EXPECT_FALSE(pair.connect());
    EXPECT_EQ(pair.failure_code, Errc::denied);
    EXPECT_EQ(pair.server->state(), Session::State::closed);
    EXPECT_FALSE(pair.server->holds_dtls());
}

// The peer repeats its flight meanwhile.
TEST(LentHandshake, TimersAreStoppedWhileAStepRuns) {
    SessionPair pair({.network = {.delay_min = 5ms, .delay_max = 5ms}, .step_time = 5s});
    run_to_step(pair, 1);
    const std::size_t turns = pair.turns;
    pair.run(3s);
    EXPECT_NE(pair.lent, nullptr);
    EXPECT_TRUE(pair.server->holds_dtls());
    EXPECT_LT(pair.turns, turns + 500) << "no timer is due again and again";
    EXPECT_TRUE(pair.connect()) << pair.failure;
}

TEST(LentHandshake, WaitingDatagramsAreBounded) {
    SessionPair pair({.network = {.delay_min = 5ms, .delay_max = 5ms}, .step_time = 100ms});
    run_to_step(pair, 1);
    for (const auto& [bytes, kept] : {std::pair(std::size_t{100}, PeerTransport::kWaitingMax),
                                      std::pair(std::size_t{2'000}, PeerTransport::kWaitingBytesMax / 2'000)}) {
        for (int i = 0; i < 100; ++i) {
            Octets datagram = dtls_datagram(bytes);
            EXPECT_TRUE(pair.server->handle_datagram(SessionPair::now(), datagram, kClientAddress).ok());
        }
        EXPECT_EQ(pair.server->take_step(), nullptr) << "one at a time";
        pair.lent->run();
        EXPECT_TRUE(pair.server->finish_step(SessionPair::now(), *pair.lent).ok());
        pair.lent = pair.server->take_step();
        ASSERT_NE(pair.lent, nullptr);
        EXPECT_EQ(pair.lent->size(), kept);
    }
    EXPECT_TRUE(pair.connect()) << "what was dropped is sent again: " << pair.failure;
}

TEST(LentHandshake, AClosedSessionIgnoresAReturnedStep) {
    SessionPair pair({.network = {.delay_min = 5ms, .delay_max = 5ms}, .step_time = 10s});
    run_to_step(pair, 1);
    pair.server->close(SessionPair::now());
    const std::size_t sent = pair.datagrams_to_client;
    pair.lent->run();
    EXPECT_TRUE(pair.server->finish_step(SessionPair::now(), *pair.lent).ok());
    pair.lent.reset();
    EXPECT_EQ(pair.server->take_step(), nullptr);
    EXPECT_EQ(pair.server->state(), Session::State::closed);
    EXPECT_FALSE(pair.server->holds_dtls());
    pair.run(20ms);
    EXPECT_EQ(pair.datagrams_to_client, sent);
}

TEST(LentHandshake, AStepOutlivesItsSession) {
    SessionPair pair({.network = {.delay_min = 5ms, .delay_max = 5ms}, .step_time = 10s});
    run_to_step(pair, 1);
    pair.server.reset();
    pair.lent->run();
    EXPECT_FALSE(pair.lent->take_progress().flight.empty());
}

}  // namespace
}  // namespace live::engine::webrtc
