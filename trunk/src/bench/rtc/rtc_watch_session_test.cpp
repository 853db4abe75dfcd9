#include "bench/rtc/rtc_watch_session.hpp"

#include <gtest/gtest.h>

#include "engine/webrtc/network_fixture.hpp"

namespace live::bench {
namespace {

using engine::webrtc::ClientSession;
using engine::webrtc::SessionFigures;
using engine::webrtc::SessionPair;

// It counts received and lost packets, and the sender gets reports as from any player.
TEST(RtcWatchSession, CountsAndReportsWithoutDecrypting) {
    SessionPair pair({.network = {.seed = 1, .delay_min = 10ms, .delay_max = 10ms},
                      .purpose = wire::sdp::Purpose::play,
                      .receiver = ClientSession::maker_of<RtcWatchSession>()});
    ASSERT_TRUE(pair.connect()) << pair.failure;
    EXPECT_FALSE(pair.client->session()->holds_dtls());
    // OpenSSL retransmits flights by the real clock in this program, so the handshake has no losses.
    pair.network.options.loss = 0.05;
    pair.begin_media();
    pair.run(10s);
    const SessionFigures got = pair.receiving()->figures();
    const SessionFigures sent = pair.sender()->figures();
    EXPECT_TRUE(pair.received.empty());
    EXPECT_EQ(got.nacked, 0U);
    EXPECT_EQ(got.key_requests, 0U);
    EXPECT_EQ(got.not_authentic, 0U);
    EXPECT_GT(got.lost, 10U);
    EXPECT_NEAR(static_cast<double>(got.packets_in + got.lost), static_cast<double>(sent.packets_out), 10);
    EXPECT_EQ(sent.repaired, 0U);
    EXPECT_GT(sent.estimated_rate, 0U) << "arrivals are reported";
    EXPECT_NEAR(static_cast<double>(sent.round_trip.count()), 20'000, 5'000);
    EXPECT_GT(sent.lost, 0U);
}

}  // namespace
}  // namespace live::bench
