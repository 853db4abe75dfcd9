// A session whose peer plays; the peer's packets are written by hand.
#include "engine/webrtc/play_session.hpp"

#include <gtest/gtest.h>

#include "engine/rtp/sender_clock.hpp"
#include "engine/srtp/session.hpp"
#include "engine/webrtc/media_sender.hpp"
#include "engine/webrtc/plain_session_fixture.hpp"

namespace live::engine::webrtc {
namespace {

using Nacks = std::vector<std::pair<MediaKind, rtp::LogNumber>>;

constexpr std::uint32_t kAudio = 0xA0;
constexpr std::uint32_t kVideo = 0xB0;
constexpr std::uint32_t kVideoRtx = 0xB1;

class PlaySessionTest : public PlainSession<PlaySession> {
protected:
    void SetUp() override { start({accepted_audio(), accepted_video()}); }
    void start(std::vector<wire::sdp::Accepted> sections) {
        SessionOptions options;
        options.agreement.sections = std::move(sections);
        options.audio_ssrc = kAudio;
        options.video_ssrc = kVideo;
        options.video_rtx_ssrc = kVideoRtx;
        options.cname = "name";
        make(std::move(options));
    }
    void send(MediaKind kind, std::uint16_t sequence, bool marker = false) {
        session->send(now, kind, header(sequence, marker), payload_of(sequence));
        drain();
    }
    static rtp::RtpLogHeader header(std::uint16_t sequence, bool marker = false) {
        return {sequence, 1'000U + sequence, marker, std::chrono::milliseconds(sequence)};
    }
    static Octets payload_of(std::uint16_t sequence) {
        return {0x41, static_cast<std::uint8_t>(sequence >> 8), static_cast<std::uint8_t>(sequence)};
    }
    wire::rtp::Packet last() const { return wire::rtp::parse_packet(rtp.back()).value(); }
    std::uint16_t transport_number() const {
        const auto found = wire::rtp::find_extension(last(), 3);
        return found ? static_cast<std::uint16_t>(found->value[0] << 8 | found->value[1]) : std::uint16_t{0xFFFF};
    }
    void nack(std::uint32_t ssrc, std::vector<std::uint16_t> sequences) {
        give(rtcp_of(wire::rtcp::Nack{1, ssrc, std::move(sequences)}));
    }
};

TEST_F(PlaySessionTest, APacketIsThePlayersOwn) {
    send(MediaKind::video, 65'535, true);
    const auto first = last();
    EXPECT_EQ(first.ssrc, kVideo);
    EXPECT_EQ(first.payload_type, 106);
    EXPECT_EQ(first.timestamp, 1'000U + 65'535);
    EXPECT_TRUE(first.marker);
    EXPECT_TRUE(std::ranges::equal(first.payload, payload_of(65'535)));
    EXPECT_LT(first.sequence, 0x8000) << "the first number leaves room before the turn";
    EXPECT_EQ(transport_number(), 0);
    send(MediaKind::audio, 9);
    EXPECT_EQ(last().ssrc, kAudio);
    EXPECT_EQ(last().payload_type, 111);
    EXPECT_EQ(transport_number(), 1) << "one count for the connection";
    send(MediaKind::video, 0);
    EXPECT_EQ(last().sequence, first.sequence + 1);
    EXPECT_FALSE(last().marker);
    EXPECT_EQ(session->figures().packets_out, 3U);
}

TEST_F(PlaySessionTest, MediaFromAPlayerIsDroppedUnread) {
    for (std::uint16_t i = 0; i < 100; ++i)
        give(rtp_of({.ssrc = i, .type = 111, .sequence = i}));
    EXPECT_EQ(session->figures().unwanted, 100U);
    EXPECT_EQ(session->figures().not_understood, 0U);
}

TEST_F(PlaySessionTest, LongIdsTakeTheOtherForm) {
    auto video = accepted_video();
    video.transport_wide_id = 200;
    start({video});
    send(MediaKind::video, 1);
    send(MediaKind::video, 2);
    const auto found = wire::rtp::find_extension(last(), 200);
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::ranges::equal(found->value, Octets{0, 1}));
    EXPECT_TRUE(std::ranges::equal(last().payload, payload_of(2)));
    send(MediaKind::audio, 1);
    EXPECT_EQ(rtp.size(), 2U) << "audio was not agreed on";
}

TEST_F(PlaySessionTest, NumbersHaveNoGapForPacketsMissingInTheLog) {
    send(MediaKind::video, 10);
    const std::uint16_t first = last().sequence;
    send(MediaKind::video, 500);
    EXPECT_EQ(last().sequence, first + 1);
    send(MediaKind::video, 501);
    EXPECT_EQ(last().sequence, first + 2);
    nack(kVideo, {first, static_cast<std::uint16_t>(first + 1), static_cast<std::uint16_t>(first + 2)});
    EXPECT_EQ(session->take_nacks(), (Nacks{{MediaKind::video, {10}}, {MediaKind::video, {500}}, {MediaKind::video, {501}}}));
    EXPECT_TRUE(session->take_nacks().empty());
}

TEST_F(PlaySessionTest, ALossInTheLogIsAHoleForThePlayer) {
    send(MediaKind::video, 10);
    const std::uint16_t first = last().sequence;
    rtp::RtpLogHeader behind = header(12);
    behind.follows_loss = true;
    session->send(now, MediaKind::video, behind, payload_of(12));
    drain();
    EXPECT_EQ(last().sequence, first + 2);
    nack(kVideo, {static_cast<std::uint16_t>(first + 1), static_cast<std::uint16_t>(first + 2)});
    EXPECT_EQ(session->take_nacks(), (Nacks{{MediaKind::video, {11}}, {MediaKind::video, {12}}}))
        << "the rtp_log knows that it has no 11";
    behind = header(100);
    behind.follows_loss = true;
    session->send(now, MediaKind::video, behind, payload_of(100));
    drain();
    EXPECT_EQ(last().sequence, first + 3) << "a jump, to whatever";
}

TEST_F(PlaySessionTest, JumpsAreRememberedUpToABound) {
    std::vector<std::uint16_t> numbers;
    for (std::uint16_t i = 0; i <= rtp::OutgoingNumbers::kLinesMax; ++i) {
        send(MediaKind::video, static_cast<std::uint16_t>(100 * i));
        numbers.push_back(last().sequence);
    }
    nack(kVideo, numbers);
    const auto nacks = session->take_nacks();
    ASSERT_EQ(nacks.size(), rtp::OutgoingNumbers::kLinesMax) << "the oldest is forgotten";
    EXPECT_EQ(nacks.front().second, rtp::LogNumber{100});
}

TEST_F(PlaySessionTest, IgnoresRequestsForPacketsNeverSent) {
    nack(kVideo, {1});
    send(MediaKind::video, 10);
    const std::uint16_t first = last().sequence;
    nack(kVideo, {static_cast<std::uint16_t>(first + 1), static_cast<std::uint16_t>(first - 1)});
    nack(0xDD, {first});
    EXPECT_TRUE(session->take_nacks().empty());
    rtp.clear();
    session->resend(now, MediaKind::video, header(11), payload_of(11));
    session->resend(now, MediaKind::audio, header(10), payload_of(10));
    drain();
    EXPECT_TRUE(rtp.empty());
}

TEST_F(PlaySessionTest, RepairsGoByRtx) {
    send(MediaKind::video, 10, true);
    const std::uint16_t first = last().sequence;
    session->resend(now, MediaKind::video, header(10, true), payload_of(10));
    drain();
    const auto rtx = last();
    EXPECT_EQ(rtx.ssrc, kVideoRtx);
    EXPECT_EQ(rtx.payload_type, 107);
    EXPECT_TRUE(rtx.marker);
    EXPECT_EQ(transport_number(), 1);
    const auto original = wire::rtp::unwrap_rtx(rtx, kVideo, 106).value();
    EXPECT_EQ(original.sequence, first);
    EXPECT_TRUE(std::ranges::equal(original.payload, payload_of(10)));
    session->resend(now, MediaKind::video, header(10), payload_of(10));
    drain();
    EXPECT_EQ(last().sequence, rtx.sequence + 1);
    EXPECT_EQ(session->figures().repaired, 2U);
}

TEST_F(PlaySessionTest, RepeatsThePacketUnchangedWithoutRtx) {
    send(MediaKind::audio, 10);
    const Octets first = rtp.back();
    send(MediaKind::audio, 11);
    nack(kAudio, {wire::rtp::parse_packet(first)->sequence});
    EXPECT_EQ(session->take_nacks(), (Nacks{{MediaKind::audio, {10}}}));
    session->resend(now, MediaKind::audio, header(10), payload_of(10));
    drain();
    EXPECT_EQ(rtp.back(), first) << "the same number with other bytes would break the key";
    send(MediaKind::audio, 12);
    EXPECT_EQ(transport_number(), 2);
    for (std::uint16_t i = 0; i < rtp::OutgoingTrack::kNumbersMax; ++i)
        send(MediaKind::audio, static_cast<std::uint16_t>(13 + i));
    const std::size_t before = rtp.size();
    session->resend(now, MediaKind::audio, header(10), payload_of(10));
    drain();
    EXPECT_EQ(rtp.size(), before) << "its number of the connection is not remembered any more";
}

TEST_F(PlaySessionTest, LimitsHandledRequests) {
    std::vector<std::uint16_t> numbers;
    for (std::uint16_t i = 0; i < MediaSender::kNacksMax + 100; ++i) {
        send(MediaKind::video, i);
        numbers.push_back(last().sequence);
    }
    nack(kVideo, {numbers.begin(), numbers.begin() + 400});
    nack(kVideo, {numbers.begin() + 400, numbers.end()});
    EXPECT_EQ(session->take_nacks().size(), MediaSender::kNacksMax);
}

// A peer that requests everything repeatedly gets a bounded share.
TEST_F(PlaySessionTest, RepairsAreNoWayToMultiplyTraffic) {
    const Octets payload(1'200, 0x41);
    for (std::uint16_t i = 0; i < 1'000; ++i)
        session->send(now, MediaKind::video, header(i), payload);
    output.clear();
    for (int round = 0; round < 20; ++round)
        for (std::uint16_t i = 0; i < 1'000; ++i)
            session->resend(now, MediaKind::video, header(i), payload);
    EXPECT_LT(output.bytes(), 300'000U);
    EXPECT_GT(output.bytes(), 0U);
}

TEST_F(PlaySessionTest, KeyFramesAreWanted) {
    EXPECT_FALSE(session->take_key_frame_request());
    give(rtcp_of(wire::rtcp::Pli{1, kVideo}));
    EXPECT_TRUE(session->take_key_frame_request());
    EXPECT_FALSE(session->take_key_frame_request());
    give(rtcp_of(wire::rtcp::ReceiverReport{.ssrc = 1, .blocks = {}}, wire::rtcp::Fir{1, {{kVideo, 3}}}));
    EXPECT_TRUE(session->take_key_frame_request());
    give(rtcp_of(wire::rtcp::Pli{1, kAudio}, wire::rtcp::Pli{1, 0xDD}, wire::rtcp::Fir{1, {{kAudio, 1}}}));
    EXPECT_FALSE(session->take_key_frame_request());
    EXPECT_EQ(session->figures().key_requests, 2U);
}

TEST_F(PlaySessionTest, SenderReportsAreOnOneClock) {
    EXPECT_FALSE(session->next_timeout());
    session->send(now, MediaKind::audio, {1, 48'000, false, 1s}, payload_of(1));
    session->send(now, MediaKind::video, {1, 90'000 * 3, false, 3s}, payload_of(1));
    wait(0ms);
    auto reports = take(wire::rtcp::parse_sender_report, wire::rtcp::Type::sender_report);
    ASSERT_EQ(reports.size(), 2U);
    const auto time_of = [](const wire::rtcp::SenderReport& report, std::uint32_t timestamp, std::uint32_t rate) {
        rtp::SenderClock clock(rate);
        clock.reported({}, report);
        return *clock.time_of(timestamp);
    };
    EXPECT_LT(std::chrono::abs(time_of(reports[0], 48'000, 48'000) + 2s - time_of(reports[1], 270'000, 90'000)), 50us);
    EXPECT_EQ(reports[1].packets, 1U);
    EXPECT_EQ(reports[1].payload_bytes, 3U);
    wait(999ms);
    EXPECT_TRUE(take(wire::rtcp::parse_sender_report, wire::rtcp::Type::sender_report).empty());
    wait(1ms);
    const auto later = take(wire::rtcp::parse_sender_report, wire::rtcp::Type::sender_report);
    ASSERT_EQ(later.size(), 2U);
    EXPECT_EQ(later[0].rtp_time, 96'000U) << "what a packet of now would have";
    EXPECT_LT(std::chrono::abs(rtp::from_ntp(later[0].ntp) - rtp::from_ntp(reports[0].ntp) - 1s), 5us);
}

TEST_F(PlaySessionTest, ReportsCarryTheName) {
    send(MediaKind::video, 1);
    wait(0ms);
    ASSERT_EQ(rtcp.size(), 1U);
    wire::rtcp::PacketReader reader(rtcp[0]);
    ASSERT_TRUE(reader.next().value());
    const auto names = wire::rtcp::parse_source_names(*reader.next().value());
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(names->at(0), (wire::rtcp::SourceName{kVideo, "name"}));
}

TEST_F(PlaySessionTest, CountsThePlayersReports) {
    send(MediaKind::video, 1);
    wait(0ms);
    const auto sent = take(wire::rtcp::parse_sender_report, wire::rtcp::Type::sender_report).at(0);
    wait(300ms);
    wire::rtcp::ReportBlock block;
    block.ssrc = kVideo;
    block.fraction_lost = 64;
    block.lost = 12;
    block.jitter = 900;
    block.last_sender_report = sent.middle_of_ntp();
    block.delay_since = 65'536 / 5;
    give(rtcp_of(wire::rtcp::ReceiverReport{1, {block}}));
    const SessionFigures figures = session->figures();
    EXPECT_NEAR(static_cast<double>(figures.round_trip.count()), 100'000, 100);
    EXPECT_EQ(figures.loss, 0.25);
    EXPECT_EQ(figures.lost, 12U);
    EXPECT_EQ(figures.jitter, 10ms);
    block.last_sender_report += 1;
    block.delay_since = 0;
    give(rtcp_of(wire::rtcp::ReceiverReport{1, {block}}));
    EXPECT_NEAR(static_cast<double>(session->figures().round_trip.count()), 100'000, 100) << "of no report of ours";
}

TEST_F(PlaySessionTest, ALinkWithoutArrivalReportsIsKnownByLossAndRemb) {
    using Reports = rtp::LinkState::Reports;
    auto video = accepted_video();
    video.transport_wide_id = 0;
    start({video});
    const auto report = [this](std::uint8_t fraction) {
        for (std::uint16_t i = 0; i < 100; ++i)
            session->send(now, MediaKind::video, header(i), Octets(1'250, 0x41));
        wait(1s);
        wire::rtcp::ReportBlock block;
        block.ssrc = kVideo;
        block.fraction_lost = fraction;
        give(rtcp_of(wire::rtcp::ReceiverReport{1, {block}}));
    };
    report(0);
    EXPECT_EQ(session->link(now).reports, Reports::none) << "nothing is known";
    EXPECT_EQ(session->estimated_rate(), 0U);
    for (int i = 0; i < 3; ++i)
        report(128);
    EXPECT_EQ(session->link(now).reports, Reports::arrived);
    EXPECT_NEAR(static_cast<double>(session->link(now).rate), 500'000, 20'000) << "half of 1 Mbit/s arrived";
    EXPECT_EQ(session->estimated_rate(), session->link(now).rate);
    EXPECT_FALSE(session->link(now).may_pad);
    give(rtcp_of(wire::rtcp::Remb{1, 300'000, {kVideo}}));
    EXPECT_NEAR(static_cast<double>(session->link(now).rate), 300'000, 1);
    EXPECT_TRUE(session->link(now).may_pad);
    EXPECT_FALSE(session->may_pad(now));
    session->set_padding(now, 400'000);
    EXPECT_TRUE(session->may_pad(now));
    EXPECT_TRUE(session->pad(now, header(99), Octets(1'250, 0x41)));
    EXPECT_FALSE(session->may_pad(now)) << "at its rate only";
}

TEST_F(PlaySessionTest, VideoIsPacedAndAudioIsNot) {
    const Octets payload(1'200, 0x41);
    std::uint16_t sent = 0;
    while (session->may_send(now, MediaKind::video) && sent < 1'000)
        session->send(now, MediaKind::video, header(sent++), payload);
    EXPECT_LT(sent, 20);
    EXPECT_TRUE(session->may_send(now, MediaKind::audio));
    const auto next = session->next_send(now);
    ASSERT_TRUE(next);
    EXPECT_LT(*next - now, 20ms);
    EXPECT_FALSE(session->may_send(*next - 1us, MediaKind::video));
    EXPECT_TRUE(session->may_send(*next, MediaKind::video));
    EXPECT_FALSE(session->next_send(*next));
    // An initial key frame of 100 KB does not take seconds.
    const TimePoint begin = now;
    for (int left = 84; left > 0; --left) {
        now = session->next_send(now).value_or(now);
        session->send(now, MediaKind::video, header(sent++), payload);
    }
    EXPECT_LT(now - begin, 1s);
    output.clear();
}

TEST_F(PlaySessionTest, DoesNotPaceForPlayersWithoutArrivalReports) {
    const Octets payload(1'200, 0x41);
    for (std::uint16_t i = 0; i < 100; ++i) {
        session->send(now, MediaKind::video, header(i), payload);
        now += 60ms;
    }
    for (std::uint16_t i = 100; i < 1'000; ++i) {
        ASSERT_TRUE(session->may_send(now, MediaKind::video));
        session->send(now, MediaKind::video, header(i), payload);
    }
    EXPECT_EQ(session->estimated_rate(), 0U);
    output.clear();
    start({accepted_audio()});
    EXPECT_FALSE(session->next_send(now));
}

TEST_F(PlaySessionTest, DropsPacketsThatAreTooLong) {
    session->send(now, MediaKind::video, header(1), Octets(PlaySession::kPayloadBytesMax + 1, 1));
    EXPECT_TRUE(output.empty());
    session->send(now, MediaKind::video, header(1), Octets(PlaySession::kPayloadBytesMax, 1));
    EXPECT_EQ(output.datagrams(), 1U);
    EXPECT_LE(output.bytes() + srtp::Session::kTrailerBytesMax, 1'472U) << "with its protection it fits a datagram of Ethernet";
    output.clear();
}

TEST_F(PlaySessionTest, ClosingSendsBye) {
    send(MediaKind::video, 1);
    session->close(now);
    drain();
    const auto byes = take(wire::rtcp::parse_goodbye, wire::rtcp::Type::goodbye);
    ASSERT_EQ(byes.size(), 1U);
    EXPECT_EQ(byes[0].ssrcs, std::vector<std::uint32_t>{kVideo});
    EXPECT_EQ(session->state(), Session::State::closed);
    rtp.clear();
    send(MediaKind::video, 2);
    EXPECT_TRUE(rtp.empty());
}

TEST_F(PlaySessionTest, BrokenReportsAreCountedAndChangeNothing) {
    give(Octets{0x81, 201, 0, 9, 0, 0, 0, 1});
    give(Octets{0x81, 205, 0, 1, 0, 0, 0, 1});
    EXPECT_EQ(session->figures().not_understood, 2U);
    EXPECT_EQ(session->state(), Session::State::established);
}

}  // namespace
}  // namespace live::engine::webrtc
