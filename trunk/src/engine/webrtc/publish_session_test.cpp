// A session whose peer publishes; the peer's packets are written by hand.
#include "engine/webrtc/publish_session.hpp"

#include <gtest/gtest.h>

#include "engine/rtp/receive/incoming_track.hpp"
#include "engine/rtp/sender_clock.hpp"
#include "engine/webrtc/media_receiver.hpp"
#include "engine/webrtc/plain_session_fixture.hpp"

namespace live::engine::webrtc {
namespace {

using Sequences = std::vector<std::uint16_t>;

constexpr std::uint32_t kAudioIn = 0xA0;
constexpr std::uint32_t kVideoIn = 0xB0;
constexpr std::uint32_t kVideoRtxIn = 0xB1;
const Octets kKey{0x65, 0x88, 1};
const Octets kInter{0x41, 0x9a, 1};

class PublishSessionTest : public PlainSession<PublishSession> {
protected:
    void SetUp() override { make({.video_ssrc = 7}); }

    void audio(std::uint16_t sequence) {
        give(rtp_of({.ssrc = kAudioIn, .type = 111, .sequence = sequence, .timestamp = sequence * 960U}));
        drain();
    }
    void video(std::uint16_t sequence, Octets payload = kInter) {
        give(rtp_of({.ssrc = kVideoIn,
                     .type = 106,
                     .sequence = sequence,
                     .timestamp = sequence * 3'600U,
                     .marker = true,
                     .payload = std::move(payload)}));
        drain();
    }
    void rtx(std::uint16_t sequence, std::uint16_t original) {
        give(rtp_of({.ssrc = kVideoRtxIn,
                     .type = 107,
                     .sequence = sequence,
                     .timestamp = original * 3'600U,
                     .marker = true,
                     .payload = {static_cast<std::uint8_t>(original >> 8), static_cast<std::uint8_t>(original), 0x41, 0x9a, 2}}));
        drain();
    }
    std::vector<std::uint32_t> media_of(MediaKind kind) const {
        std::vector<std::uint32_t> times;
        for (const rtp::MediaPacket& packet : media)
            if (packet.kind == kind)
                times.push_back(packet.timestamp / (kind == MediaKind::audio ? 960 : 3'600));
        return times;
    }
    using Numbers = std::vector<std::uint32_t>;
};

TEST_F(PublishSessionTest, PacketsGoToTheirTracksByType) {
    audio(1);
    video(1, kKey);
    ASSERT_EQ(media.size(), 2U);
    EXPECT_EQ(media[0].kind, MediaKind::audio);
    EXPECT_FALSE(media[0].begins_key);
    EXPECT_EQ(media[1].kind, MediaKind::video);
    EXPECT_TRUE(media[1].begins_key);
    EXPECT_TRUE(std::ranges::equal(media[1].payload.bytes(), kKey));
    EXPECT_EQ(media[1].arrived, now);
    give(rtp_of({.ssrc = 0xC0, .type = 99}));
    give(Octets{0x80, 106, 0, 1});
    EXPECT_EQ(session->figures().not_understood, 1U) << "what is too short for RTP is not even asked about";
    EXPECT_EQ(session->figures().packets_in, 2U);
}

TEST_F(PublishSessionTest, AMidOutweighsTheType) {
    auto sections = std::vector{accepted_audio(), accepted_video()};
    sections[0].codec.payload_type = sections[1].codec.payload_type;
    SessionOptions options;
    options.agreement.sections = sections;
    make(std::move(options));
    give(rtp_of({.ssrc = 1, .type = 106, .extensions = {{4, "v"}}}));
    give(rtp_of({.ssrc = 2, .type = 106, .extensions = {{4, "a"}}}));
    give(rtp_of({.ssrc = 3, .type = 106, .extensions = {{4, "nobody"}}}));
    drain();
    ASSERT_EQ(media.size(), 2U);
    EXPECT_EQ(media[0].kind, MediaKind::audio);
    EXPECT_EQ(media[1].kind, MediaKind::video);
    EXPECT_EQ(session->figures().not_understood, 1U);
    give(rtp_of({.ssrc = 1, .type = 106, .sequence = 1}));
    drain();
    EXPECT_EQ(media.back().kind, MediaKind::video) << "a stream that is known needs to say no more";
}

TEST_F(PublishSessionTest, AnOfferThatNamesStreamsTellsThemApart) {
    auto sections = std::vector{accepted_audio(), accepted_video()};
    sections[0].codec.payload_type = sections[1].codec.payload_type;
    wire::sdp::Description offer;
    offer.sections.resize(2);
    offer.sections[0].ssrcs = {{0x51, "c"}};
    offer.sections[1].ssrcs = {{0x52, "c"}, {0x53, "c"}};
    offer.sections[1].ssrc_groups = {{"FID", {0x52, 0x53}}};
    SessionOptions options;
    options.agreement.sections = sections;
    options.offer = &offer;
    make(std::move(options));
    give(rtp_of({.ssrc = 0x52, .type = 106, .sequence = 5}));
    give(rtp_of({.ssrc = 0x51, .type = 106}));
    give(rtp_of({.ssrc = 0x52, .type = 106, .sequence = 7}));
    give(rtp_of({.ssrc = 0x53, .type = 107, .payload = {0, 6, 0x41}}));
    drain();
    ASSERT_EQ(media.size(), 4U);
    EXPECT_EQ(std::ranges::count(media, MediaKind::audio, &rtp::MediaPacket::kind), 1);
}

TEST_F(PublishSessionTest, RequestsMissingPacketsAndInsertsThem) {
    video(10, kKey);
    video(13);
    EXPECT_EQ(media_of(MediaKind::video), Numbers{10});
    wait(9ms);
    EXPECT_TRUE(take_nacks().empty()) << "it may only be late";
    wait(1ms);
    const auto nacks = take_nacks();
    ASSERT_EQ(nacks.size(), 1U);
    EXPECT_EQ(nacks[0], (wire::rtcp::Nack{7, kVideoIn, {11, 12}}));
    rtx(1, 12);
    EXPECT_EQ(media_of(MediaKind::video), Numbers{10});
    rtx(2, 11);
    EXPECT_EQ(media_of(MediaKind::video), (Numbers{10, 11, 12, 13}));
    EXPECT_EQ(session->figures().repaired, 2U);
    EXPECT_EQ(session->figures().nacked, 2U);
    wait(1s);
    EXPECT_TRUE(take_nacks().empty());
}

TEST_F(PublishSessionTest, RequestsMissingAudioToo) {
    audio(1);
    audio(3);
    wait(10ms);
    ASSERT_EQ(take_nacks().size(), 1U);
    audio(2);
    EXPECT_EQ(media_of(MediaKind::audio), (Numbers{1, 2, 3}));
}

TEST_F(PublishSessionTest, RequestsAreAtLeastTwentyMillisecondsApart) {
    video(1, kKey);
    for (std::uint16_t i = 3; i < 60; i += 2) {
        video(i);
        wait(3ms);
    }
    // 87 ms.
    const auto nacks = take_nacks();
    EXPECT_GE(nacks.size(), 3U);
    EXPECT_LE(nacks.size(), 5U);
}

TEST_F(PublishSessionTest, ManyHolesTakeSeveralRequests) {
    for (std::uint16_t i = 1; i < 6'000; ++i)
        if (i % 20 != 0)
            video(i);
    wait(10ms);
    for (const Octets& datagram : rtcp)
        EXPECT_LE(datagram.size(), 1'472U);
    std::size_t asked = 0;
    for (const auto& nack : take_nacks()) {
        EXPECT_LE(nack.sequences.size(), MediaReceiver::kNackSequencesMax);
        asked += nack.sequences.size();
    }
    EXPECT_EQ(asked, 299U);
}

TEST_F(PublishSessionTest, RequestsNothingWithoutNegotiatedNack) {
    auto sections = std::vector{accepted_audio(), accepted_video()};
    sections[0].codec.feedback = {};
    SessionOptions options;
    options.agreement.sections = sections;
    make(std::move(options));
    audio(1);
    audio(3);
    wait(99ms);
    EXPECT_EQ(media_of(MediaKind::audio), Numbers{1}) << "it may be out of order";
    wait(1ms);
    EXPECT_EQ(media_of(MediaKind::audio), (Numbers{1, 3}));
    EXPECT_TRUE(media.back().follows_loss);
    EXPECT_TRUE(take_nacks().empty());
}

TEST_F(PublishSessionTest, ReportsAPermanentGapAndRequestsAKeyFrame) {
    video(1, kKey);
    wait(100ms);
    EXPECT_EQ(take_plis().size(), 1U) << "the stream has begun";
    video(2);
    video(4);
    wait(3s);
    EXPECT_EQ(media_of(MediaKind::video), (Numbers{1, 2, 4}));
    EXPECT_TRUE(media[2].follows_loss);
    EXPECT_EQ(media[2].sequence, media[1].sequence + 2);
    const auto plis = take_plis();
    ASSERT_GE(plis.size(), 2U) << "again until it comes";
    EXPECT_EQ(plis[0], (wire::rtcp::Pli{7, kVideoIn}));
    EXPECT_EQ(session->figures().given_up, 1U);
    video(5, kKey);
    wait(3s);
    EXPECT_TRUE(take_plis().empty());
    EXPECT_FALSE(media.back().follows_loss);
}

TEST_F(PublishSessionTest, RequestsKeyFramesAtMostTwiceASecond) {
    video(1, kKey);
    wait(0ms);
    EXPECT_EQ(take_plis().size(), 1U);
    for (int i = 0; i < 90; ++i) {
        session->request_key_frame(now);
        wait(10ms);
    }
    EXPECT_EQ(take_plis().size(), 1U);
    wait(500ms);
    EXPECT_EQ(take_plis().size(), 1U) << "the last one came too early and is sent late";
    wait(5s);
    EXPECT_EQ(take_plis().size(), 5U) << "requests are lost, too, and a player may be waiting";
    video(2, kKey);
    wait(5s);
    EXPECT_TRUE(take_plis().empty());
    EXPECT_EQ(session->figures().key_requests, 8U);
}

TEST_F(PublishSessionTest, ReportsEverySecond) {
    for (std::uint16_t i = 0; i < 50; ++i) {
        if (i % 10 != 5)
            audio(i);
        if (i == 20)
            give(rtcp_of(wire::rtcp::SenderReport{.ssrc = kAudioIn, .ntp = 0x0102030405060708, .blocks = {}}));
        wait(20ms);
    }
    const auto reports = take(wire::rtcp::parse_receiver_report, wire::rtcp::Type::receiver_report);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].ssrc, 7U);
    ASSERT_EQ(reports[0].blocks.size(), 1U);
    const auto& block = reports[0].blocks[0];
    EXPECT_EQ(block.ssrc, kAudioIn);
    EXPECT_EQ(block.lost, 5);
    EXPECT_EQ(block.fraction_lost, 5 * 256 / 50);
    EXPECT_EQ(block.highest_sequence, 49U);
    EXPECT_EQ(block.jitter, 0U);
    EXPECT_EQ(block.last_sender_report, 0x03040506U);
    EXPECT_NEAR(block.delay_since, 0.6 * 65'536, 100);
    EXPECT_NEAR(session->figures().loss, 0.1, 0.001);
}

TEST_F(PublishSessionTest, ArrivalsAreReportedTenTimesASecond) {
    for (std::uint16_t i = 0; i < 100; ++i) {
        const std::string number{static_cast<char>(0), static_cast<char>(i)};
        if (i != 7)
            give(rtp_of({.ssrc = kAudioIn, .type = 111, .sequence = i, .extensions = {{3, number}}}));
        wait(10ms);
    }
    const auto reports =
        take(wire::rtcp::parse_transport_feedback, wire::rtcp::Type::transport_feedback, wire::rtcp::kTransportWideFormat);
    EXPECT_GE(reports.size(), 9U);
    EXPECT_LE(reports.size(), 10U);
    EXPECT_EQ(reports[0].base_sequence, 0);
    ASSERT_GT(reports[0].packets.size(), 8U);
    EXPECT_FALSE(reports[0].packets[7].received);
    EXPECT_EQ(reports[0].packets[8].ticks, 80);
}

TEST_F(PublishSessionTest, DisabledFeaturesAreOff) {
    make({.nack = false, .twcc = false, .drop_payload_type = 111});
    for (std::uint16_t i = 0; i < 10; i += 2)
        give(rtp_of({.ssrc = kVideoIn, .type = 106, .sequence = i, .extensions = {{3, "ab"}}}));
    audio(1);
    wait(500ms);
    EXPECT_TRUE(take_nacks().empty());
    EXPECT_TRUE(media_of(MediaKind::audio).empty());
    wait(500ms);
    EXPECT_TRUE(take(wire::rtcp::parse_transport_feedback, wire::rtcp::Type::transport_feedback, 15).empty());
}

TEST_F(PublishSessionTest, ByeEndsATrackUntilItSendsAgain) {
    video(1, kKey);
    give(rtcp_of(wire::rtcp::Goodbye{{kAudioIn, kVideoIn}}));
    EXPECT_TRUE(session->has_ended(MediaKind::video));
    EXPECT_FALSE(session->has_ended(MediaKind::audio)) << "it never began";
    EXPECT_EQ(session->state(), Session::State::established);
    video(2, kKey);
    EXPECT_FALSE(session->has_ended(MediaKind::video));
    ASSERT_EQ(media.size(), 2U);
    EXPECT_GT(media[1].sequence, media[0].sequence);
}

TEST_F(PublishSessionTest, PaddingAndOtherTypesOnlyConsumeANumber) {
    video(1, kKey);
    give(rtp_of({.ssrc = kVideoIn, .type = 106, .sequence = 2, .payload = {}}));
    give(rtp_of({.ssrc = kVideoIn, .type = 98, .sequence = 3}));
    video(4);
    EXPECT_EQ(media_of(MediaKind::video), (Numbers{1, 4}));
    EXPECT_EQ(media[1].sequence, media[0].sequence + 1);
    EXPECT_FALSE(media[1].follows_loss);
}

TEST_F(PublishSessionTest, NumbersThatBeginAnewAreFollowed) {
    video(10'000, kKey);
    wait(40ms);
    video(10'001);
    wait(40ms);
    video(500);
    EXPECT_EQ(media.size(), 2U) << "one alone may be a stray";
    video(501);
    video(502, kKey);
    ASSERT_EQ(media.size(), 4U);
    EXPECT_EQ(media[2].sequence, media[1].sequence + 1);
    EXPECT_GT(static_cast<std::int32_t>(media[2].timestamp - media[1].timestamp), 0);
    EXPECT_LT(media[2].timestamp - media[1].timestamp, 90'000U) << "time goes on, too";
    EXPECT_TRUE(media[3].begins_key);
}

TEST_F(PublishSessionTest, ANewSsrcTakesOverAtAKeyFrame) {
    video(100, kKey);
    for (std::uint16_t i = 0; i < 60; ++i) {
        give(rtp_of({.ssrc = 0xBB,
                     .type = 106,
                     .sequence = i,
                     .timestamp = 7'000'000U + i * 3'600,
                     .marker = true,
                     .payload = i == 40 ? kKey : kInter}));
        wait(40ms);
    }
    ASSERT_GT(media.size(), 10U);
    EXPECT_TRUE(media[1].begins_key);
    EXPECT_EQ(media[1].sequence, media[0].sequence + 1);
    const double ahead = static_cast<std::int32_t>(media[1].timestamp - media[0].timestamp) / 90'000.0;
    EXPECT_NEAR(ahead, 1.6, 0.1) << "as much later as it came";
    EXPECT_EQ(session->figures().layer_switches, 1U);
}

TEST_F(PublishSessionTest, LimitsTheNumberOfStreams) {
    video(1, kKey);
    for (std::uint32_t i = 0; i < 3 * rtp::TrackStreams::kStreamsMax; ++i) {
        give(rtp_of({.ssrc = 0x1000 + i, .type = 106, .sequence = 1}));
        wait(1ms);
    }
    video(2);
    EXPECT_EQ(media_of(MediaKind::video), (Numbers{1, 2})) << "the one that is forwarded never gives way";
    wait(1s);
    const auto reports = take(wire::rtcp::parse_receiver_report, wire::rtcp::Type::receiver_report);
    ASSERT_FALSE(reports.empty());
    EXPECT_EQ(reports[0].blocks.size(), rtp::TrackStreams::kStreamsMax);
}

TEST_F(PublishSessionTest, IgnoresPacketsFromAnotherAddress) {
    Octets packet = rtp_of({.ssrc = kVideoIn, .type = 106});
    EXPECT_TRUE(session->handle_datagram(now, packet, kServerAddress).ok());
    drain();
    EXPECT_TRUE(media.empty());
    EXPECT_EQ(session->figures().unknown_address, 1U);
}

TEST_F(PublishSessionTest, ReportsGiveTheSendersClock) {
    video(1, kKey);
    EXPECT_FALSE(session->ntp_of(MediaKind::video, 0));
    give(rtcp_of(wire::rtcp::SenderReport{.ssrc = kVideoIn, .ntp = rtp::to_ntp(100s), .rtp_time = 90'000, .blocks = {}}));
    EXPECT_EQ(session->ntp_of(MediaKind::video, 90'000), std::chrono::microseconds(100s));
    EXPECT_EQ(session->ntp_of(MediaKind::video, 135'000), std::chrono::microseconds(100'500ms));
    EXPECT_EQ(session->ntp_of(MediaKind::video, 0), std::chrono::microseconds(99s));
    EXPECT_FALSE(session->ntp_of(MediaKind::audio, 0));
}

// ---- Simulcast.

class Simulcast : public PublishSessionTest {
protected:
    void SetUp() override {
        auto video = accepted_video();
        video.rid_id = 10;
        video.repaired_rid_id = 11;
        video.layers = {"q", "h", "f"};
        SessionOptions options;
        options.agreement.sections = {accepted_audio(), video};
        make(std::move(options));
    }
    struct Layer {
        std::string rid;
        std::uint32_t ssrc;
        std::uint32_t base;  // of its timestamps
        std::size_t bytes;
        bool is_alive = true;
        bool has_key = false;  // the next frame is a key frame
        std::uint16_t sequence = 0;
    };
    Layer q{"q", 0xB1, 1'000, 100};
    Layer h{"h", 0xB2, 500'000, 300};
    Layer f{"f", 0xB3, 4'000'000'000, 900};

    // Sends a frame of each active layer, with key frames on request, like an encoder.
    void frame() {
        for (Layer* const layer : {&q, &h, &f}) {
            if (!layer->is_alive)
                continue;
            Octets payload(layer->bytes, 0x9a);
            payload[0] = layer->has_key ? 0x65 : 0x41;
            layer->has_key = false;
            give(rtp_of({.ssrc = layer->ssrc,
                         .type = 106,
                         .sequence = layer->sequence++,
                         .timestamp = layer->base + frames_ * 3'600,
                         .marker = true,
                         .payload = payload,
                         .extensions = {{10, layer->rid}}}));
            drain();
        }
        ++frames_;
        wait(40ms);
        for (const auto& pli : take_plis())
            for (Layer* const layer : {&q, &h, &f})
                layer->has_key = layer->has_key || layer->ssrc == pli.media_ssrc;
    }
    std::size_t forwarded() const { return media.empty() ? 0 : media.back().payload.size(); }
    void expect_one_line() const {
        for (std::size_t i = 1; i < media.size(); ++i) {
            EXPECT_EQ(media[i].sequence, media[i - 1].sequence + 1) << i;
            EXPECT_GT(static_cast<std::int32_t>(media[i].timestamp - media[i - 1].timestamp), 0) << i;
            EXPECT_LT(media[i].timestamp - media[i - 1].timestamp, 3U * 90'000) << i;
            if (media[i].payload.size() != media[i - 1].payload.size()) {
                EXPECT_TRUE(media[i].begins_key) << "layers change at a key frame";
            }
        }
    }

private:
    std::uint32_t frames_ = 0;
};

TEST_F(Simulcast, TheBestLayerIsForwarded) {
    for (int i = 0; i < 100; ++i)
        frame();
    EXPECT_EQ(forwarded(), f.bytes);
    expect_one_line();
    EXPECT_GE(session->figures().layer_switches, 1U);
    EXPECT_LE(session->figures().layer_switches, 2U);
}

TEST_F(Simulcast, ReplacesALostLayerAndResumesIt) {
    for (int i = 0; i < 60; ++i)
        frame();
    ASSERT_EQ(forwarded(), f.bytes);
    f.is_alive = false;
    for (int i = 0; i < 60; ++i)
        frame();
    EXPECT_EQ(forwarded(), h.bytes) << "the next best";
    f.is_alive = true;
    for (int i = 0; i < 60; ++i)
        frame();
    EXPECT_EQ(forwarded(), f.bytes);
    expect_one_line();
}

// The packets of a layer by itself, collected after those of the forwarded one.
using LayerMedia = std::vector<rtp::LayerPacket>;
LayerMedia layer_packets(PublishSession& session) {
    LayerMedia all;
    while (auto packet = session.poll_layer())
        all.push_back(std::move(*packet));
    return all;
}

TEST_F(Simulcast, WantedLayersAreOutputOneByOne) {
    for (int i = 0; i < 60; ++i)
        frame();
    EXPECT_TRUE(layer_packets(*session).empty()) << "nobody wants one";
    const auto states = session->layer_states(now);
    ASSERT_EQ(states.size(), 3U);
    EXPECT_TRUE(states[0].is_alive && states[2].is_alive);
    EXPECT_GT(states[2].rate, 2 * states[0].rate);
    for (const std::size_t layer : {0U, 2U}) {
        session->want_layer(layer, true);
        session->request_layer_key_frame(now, layer);
    }
    LayerMedia small;
    LayerMedia large;
    for (int i = 0; i < 60; ++i) {
        frame();
        for (auto& packet : layer_packets(*session))
            (packet.layer == 0 ? small : large).push_back(std::move(packet));
    }
    ASSERT_GT(small.size(), 50U);
    ASSERT_GT(large.size(), 50U);
    EXPECT_EQ(small.back().media.payload.size(), q.bytes);
    EXPECT_EQ(large.back().media.payload.size(), f.bytes) << "the forwarded one, too";
    EXPECT_TRUE(small.front().media.begins_key && large.front().media.begins_key) << "from a key frame on";
    EXPECT_EQ(small.back().media.timestamp % 3'600, large.back().media.timestamp % 3'600);
    EXPECT_EQ(large.back().media.timestamp, media.back().timestamp) << "on the timeline of the track";
    EXPECT_NEAR(static_cast<double>(small.back().media.timestamp), static_cast<double>(large.back().media.timestamp), 400);
    expect_one_line();
    session->want_layer(0, false);
    frame();
    frame();
    for (const auto& packet : layer_packets(*session))
        EXPECT_EQ(packet.layer, 2U);
    session->want_layer(7, true);
    session->request_layer_key_frame(now, 7);
}

TEST_F(Simulcast, AnUnrepairedGapOfALayerIsSaidAndAKeyFrameRequested) {
    session->want_layer(0, true);
    session->request_layer_key_frame(now, 0);
    for (int i = 0; i < 60; ++i)
        frame();
    ASSERT_FALSE(layer_packets(*session).empty());
    ++q.sequence;
    LayerMedia after;
    for (int i = 0; i < 80; ++i) {
        frame();
        for (auto& packet : layer_packets(*session))
            after.push_back(std::move(packet));
    }
    const auto lossy = std::ranges::count_if(after, [](const auto& packet) { return packet.media.follows_loss; });
    const auto keys = std::ranges::count_if(after, [](const auto& packet) { return packet.media.begins_key; });
    EXPECT_EQ(lossy, 1);
    EXPECT_GE(keys, 1);
    EXPECT_EQ(forwarded(), f.bytes) << "the forwarded layer has lost nothing";
}

TEST_F(Simulcast, RequestsForKeyFramesOfALayerAreLimited) {
    session->want_layer(0, true);
    for (int i = 0; i < 60; ++i)
        frame();
    static_cast<void>(layer_packets(*session));
    q.is_alive = false;  // does not answer
    std::size_t requests = 0;
    for (int i = 0; i < 50; ++i) {
        session->request_layer_key_frame(now, 0);
        wait(20ms);
        for (const auto& pli : take_plis())
            requests += pli.media_ssrc == q.ssrc ? 1 : 0;
    }
    EXPECT_GE(requests, 2U);
    EXPECT_LE(requests, 3U) << "in a second";
}

TEST_F(Simulcast, LayersWithReportsShareAClock) {
    for (const Layer* const layer : {&q, &h, &f})
        give(rtcp_of(
            wire::rtcp::SenderReport{.ssrc = layer->ssrc, .ntp = rtp::to_ntp(100s), .rtp_time = layer->base, .blocks = {}}));
    for (int i = 0; i < 100; ++i) {
        frame();
        if (i == 5)
            for (const Layer* const layer : {&q, &h, &f})
                give(rtcp_of(wire::rtcp::SenderReport{
                    .ssrc = layer->ssrc, .ntp = rtp::to_ntp(100s), .rtp_time = layer->base, .blocks = {}}));
    }
    ASSERT_EQ(forwarded(), f.bytes);
    for (std::size_t i = 10; i < media.size(); ++i)
        EXPECT_LE((media[i].timestamp - media[0].timestamp) % 3'600, media[i].begins_key ? 90U : 0U)
            << "to the tick, across a change of layers";
    const auto time = session->ntp_of(MediaKind::video, media.back().timestamp);
    ASSERT_TRUE(time);
    EXPECT_NEAR(static_cast<double>(time->count()), (100 + 99 * 0.04) * 1e6, 1'000) << "and the reports go along";
}

TEST_F(Simulcast, RepairsGoToTheLayerThatTheyName) {
    for (int i = 0; i < 60; ++i)
        frame();
    ASSERT_EQ(forwarded(), f.bytes);
    const std::size_t before = media.size();
    ++f.sequence;  // one is lost
    frame();
    EXPECT_EQ(media.size(), before);
    const auto missing = static_cast<std::uint16_t>(f.sequence - 2);
    give(rtp_of({.ssrc = 0xC3,
                 .type = 107,
                 .payload = {static_cast<std::uint8_t>(missing >> 8), static_cast<std::uint8_t>(missing), 0x41, 0x9a},
                 .extensions = {{11, "f"}}}));
    drain();
    EXPECT_EQ(media.size(), before + 2);
}

TEST_F(Simulcast, DropsALayerThatWasNotAgreed) {
    give(rtp_of({.ssrc = 1, .type = 106, .extensions = {{10, "x"}}}));
    give(rtp_of({.ssrc = 2, .type = 106}));
    drain();
    EXPECT_TRUE(media.empty());
    EXPECT_EQ(session->figures().not_understood, 2U);
}

}  // namespace
}  // namespace live::engine::webrtc
