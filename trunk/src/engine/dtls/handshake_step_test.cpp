#include "engine/dtls/handshake_step.hpp"

#include <gtest/gtest.h>

#include "engine/dtls/simulated_clock_fixture.hpp"

namespace live::engine::dtls {
namespace {

using Datagrams = std::vector<std::vector<std::uint8_t>>;

// A server whose handshake is done in steps, and its client.
struct HandshakeStepTest : ::testing::Test {
    HandshakeStepTest() { simulated_clock().is_on = true; }
    ~HandshakeStepTest() override { simulated_clock().is_on = false; }

    std::unique_ptr<Transport> make(const Context& of, Role role, const std::string& remote) {
        return Transport::create(of, {.role = role, .remote_fingerprint = remote}, now()).value();
    }
    static TimePoint now() { return simulated_clock().current(); }
    // Returns the server's progress after each of the client's flights.
    std::vector<Transport::Progress> shake_hands(HandshakeStep::Options options) {
        std::vector<Transport::Progress> made;
        EXPECT_TRUE(client->start(now()).ok());
        for (Datagrams flight = client->take_output(); !flight.empty() && server != nullptr; flight = client->take_output()) {
            HandshakeStep step(std::move(server), std::move(flight), now(), options);
            step.run();
            EXPECT_EQ(step.size(), 0U);
            server = step.take_transport();
            made.push_back(step.take_progress());
            for (const auto& datagram : made.back().flight)
                static_cast<void>(client->handle_datagram(now(), datagram).ok());
        }
        return made;
    }

    std::unique_ptr<Certificate> ours = Certificate::make().value();
    std::unique_ptr<Certificate> theirs = Certificate::make().value();
    std::unique_ptr<Context> context = Context::create(*ours).value();
    std::unique_ptr<Context> client_context = Context::create(*theirs).value();
    std::unique_ptr<Transport> server = make(*context, Role::server, theirs->fingerprint().value());
    std::unique_ptr<Transport> client = make(*client_context, Role::client, ours->fingerprint().value());
};

TEST_F(HandshakeStepTest, BothEndsHaveTheSameKeys) {
    const auto made = shake_hands({});
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(made[0].state, Transport::State::handshaking);
    EXPECT_FALSE(made[0].keys);
    ASSERT_TRUE(made[1].outcome.ok() && made[1].keys && made[1].keys->ok());
    EXPECT_EQ(made[1].state, Transport::State::established);
    ASSERT_EQ(client->state(), Transport::State::established);
    EXPECT_EQ((*made[1].keys)->local, client->export_keys()->remote);
    ASSERT_NE(server, nullptr);
    EXPECT_EQ(server->state(), Transport::State::established);
}

TEST_F(HandshakeStepTest, FreesTheTransportAndExportsNothingOnRequest) {
    const auto made = shake_hands({.exports_keys = false, .frees_transport = true});
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(made[1].state, Transport::State::established);
    EXPECT_FALSE(made[1].keys);
    EXPECT_EQ(server, nullptr);
    EXPECT_EQ(client->state(), Transport::State::established);
}

TEST_F(HandshakeStepTest, AStrangersCertificateIsAnErrorAndAnAlert) {
    server = make(*context, Role::server, ours->fingerprint().value());
    const auto made = shake_hands({.frees_transport = true});
    ASSERT_EQ(made.size(), 2U);
    ASSERT_FALSE(made[1].outcome.ok());
    EXPECT_EQ(made[1].outcome.code(), Errc::denied);
    EXPECT_FALSE(made[1].keys);
    EXPECT_FALSE(made[1].flight.empty());
}

TEST_F(HandshakeStepTest, OutlivesTheContext) {
    EXPECT_TRUE(client->start(now()).ok());
    HandshakeStep step(std::move(server), client->take_output(), now(), {});
    context.reset();
    ours.reset();
    step.run();
    EXPECT_FALSE(step.take_progress().flight.empty());
}

}  // namespace
}  // namespace live::engine::dtls
