#include "engine/webrtc/shared_state.hpp"

#include <gtest/gtest.h>

#include "engine/webrtc/plain_session_fixture.hpp"

namespace live::engine::webrtc {
namespace {

TEST(SharedState, CountsRtcpByType) {
    const Octets datagram =
        rtcp_of(wire::rtcp::ReceiverReport{1, {}}, wire::rtcp::Pli{1, 2}, wire::rtcp::Nack{1, 2, {7, 9, 300}});
    RtcpCounts counts;
    count_rtcp(counts, datagram);
    EXPECT_EQ(counts.receiver_reports, 1U);
    EXPECT_EQ(counts.key_requests, 1U);
    EXPECT_EQ(counts.nacked, 3U);
    EXPECT_EQ(counts.arrival_reports, 0U);
}

TEST(SharedState, CountsUpToWhereADatagramBreaks) {
    const Octets datagram = rtcp_of(wire::rtcp::Pli{1, 2}, wire::rtcp::Nack{1, 2, {7}});
    for (std::size_t size = 0; size < datagram.size(); ++size) {
        RtcpCounts counts;
        count_rtcp(counts, Bytes(datagram).first(size));
        EXPECT_EQ(counts.key_requests, size >= 12 ? 1U : 0U) << size;
        EXPECT_EQ(counts.nacked, 0U) << size;
    }
}

template <class Kind>
class Relieved : public PlainSession<Kind> {
protected:
    void SetUp() override {
        SessionOptions options;
        options.shared = &shared;
        options.audio_ssrc = 11;
        options.video_ssrc = 12;
        this->make(std::move(options));
    }
    SharedState shared;
};
using RelievedPublish = Relieved<PublishSession>;
using RelievedPlay = Relieved<PlaySession>;

// Video packets, one of which is missing.
TEST_F(RelievedPublish, RequestsNoRetransmissionsUnderLoad) {
    shared.skips_nack = true;
    const auto lose_one = [this](std::uint16_t from) {
        for (const int step : {0, 1, 3, 4})
            give(rtp_of({.ssrc = 5, .type = 106, .sequence = static_cast<std::uint16_t>(from + step)}));
        wait(60ms);
    };
    lose_one(100);
    EXPECT_TRUE(take_nacks().empty());
    EXPECT_EQ(shared.out.nacked, 0U);
    shared.skips_nack = false;
    lose_one(105);
    EXPECT_FALSE(take_nacks().empty());
    EXPECT_GT(shared.out.nacked, 0U);
}

TEST_F(RelievedPublish, ReportsNoArrivalsUnderLoad) {
    const auto arrive = [this](std::uint16_t number) {
        const std::string value{static_cast<char>(number >> 8), static_cast<char>(number)};
        give(rtp_of({.ssrc = 5, .type = 106, .sequence = number, .extensions = {{3, value}}}));
        wait(250ms);
        return take(wire::rtcp::parse_transport_feedback, wire::rtcp::Type::transport_feedback, wire::rtcp::kTransportWideFormat)
            .size();
    };
    EXPECT_GT(arrive(1), 0U);
    shared.skips_arrivals = true;
    EXPECT_EQ(arrive(2), 0U);
    shared.skips_arrivals = false;
    EXPECT_GT(arrive(3), 0U);
}

TEST_F(RelievedPlay, SendsNoRetransmissionsUnderLoad) {
    const Octets payload(100, 0x41);
    session->send(now, MediaKind::video, {.sequence = 1}, payload);
    drain();
    ASSERT_EQ(rtp.size(), 1U);
    const auto sequence = wire::rtp::parse_packet(rtp.front())->sequence;
    const auto ask = [&] {
        give(rtcp_of(wire::rtcp::Nack{1, 12, {sequence}}));
        return session->take_nacks().size();
    };
    EXPECT_EQ(ask(), 1U);
    shared.skips_nack = true;
    EXPECT_EQ(ask(), 0U);
    EXPECT_EQ(shared.in.nacked, 2U);
    session->resend(now, MediaKind::video, {.sequence = 1}, payload);
    EXPECT_EQ(shared.resent, 1U);
    EXPECT_EQ(shared.rtp_out, 2U);
}

}  // namespace
}  // namespace live::engine::webrtc
