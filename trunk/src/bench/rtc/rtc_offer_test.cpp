#include "bench/rtc/rtc_offer.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace live::bench {
namespace {

namespace sdp = wire::sdp;

constexpr const char* kPrint = "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF";

RtcOffer offer_of(sdp::Purpose purpose, bool has_audio = true) {
    return {.purpose = purpose,
            .ufrag = "abcd1234",
            .pwd = "0123456789abcdef01234567",
            .fingerprint = kPrint,
            .has_audio = has_audio,
            .format = "packetization-mode=1;profile-level-id=64001f",
            .audio_ssrc = 11,
            .video_ssrc = 12,
            .video_rtx_ssrc = 13,
            .cname = "load"};
}

struct Server {
    sdp::Agreement agreement;
    std::string answer;
};

// Our server's response to an offer.
Server server_for(const RtcOffer& offer, std::string video = "H264",
                  std::vector<sdp::Candidate> candidates = {{"192.0.2.1", 9, true}, {"192.0.2.1", 8000, false}}) {
    const auto read = sdp::parse_description(write_offer(offer));
    EXPECT_TRUE(read.ok());
    const sdp::Terms terms{.purpose = offer.purpose, .video = {std::move(video)}, .repair = sdp::Repair::rtx};
    auto agreement = sdp::negotiate(*read, terms);
    EXPECT_TRUE(agreement.ok());
    const sdp::Local local{.product = "live",
                           .session_id = 1,
                           .session_name = "s",
                           .stream = "live/a",
                           .ufrag = "server01",
                           .pwd = "abcdefghijklmnopqrstuvwxyz012345",
                           .fingerprint = kPrint,
                           .cname = "c",
                           .candidates = std::move(candidates),
                           .audio = {1, 2, "a"},
                           .video = {3, 4, "v"}};
    std::string answer = sdp::write_answer(*read, *agreement, local);
    return {*std::move(agreement), std::move(answer)};
}

TEST(RtcOffer, CanBeWithoutTransportWideFeedback) {
    RtcOffer offer = offer_of(sdp::Purpose::play);
    EXPECT_NE(write_offer(offer).find("transport-cc"), std::string::npos);
    offer.twcc = false;
    const std::string text = write_offer(offer);
    EXPECT_EQ(text.find("transport-cc"), std::string::npos);
    EXPECT_EQ(text.find(sdp::kTransportWideUri), std::string::npos);
}

TEST(RtcOffer, BothEndsAgree) {
    for (const auto purpose : {sdp::Purpose::play, sdp::Purpose::publish}) {
        const Server server = server_for(offer_of(purpose));
        EXPECT_EQ(server.agreement.setup, sdp::SetupRole::passive);
        EXPECT_EQ(server.agreement.remote_ufrag, "abcd1234");
        const auto answer = read_answer(server.answer, purpose);
        ASSERT_TRUE(answer.ok()) << answer.error().text();
        EXPECT_EQ(answer->agreement.setup, sdp::SetupRole::active);
        EXPECT_EQ(answer->agreement.remote_ufrag, "server01");
        EXPECT_EQ(answer->agreement.remote_pwd, "abcdefghijklmnopqrstuvwxyz012345");
        EXPECT_EQ(answer->agreement.remote_fingerprint.value, kPrint);
        EXPECT_EQ(answer->host, "192.0.2.1");
        EXPECT_EQ(answer->port, 8000);
        ASSERT_EQ(answer->agreement.sections.size(), 2U);
        for (std::size_t i = 0; i < 2; ++i) {
            const sdp::Accepted& ours = answer->agreement.sections[i];
            const sdp::Accepted& theirs = server.agreement.sections[i];
            EXPECT_EQ(ours.kind, theirs.kind);
            EXPECT_EQ(ours.codec.payload_type, theirs.codec.payload_type);
            EXPECT_EQ(ours.rtx_payload_type, theirs.rtx_payload_type);
            EXPECT_EQ(ours.transport_wide_id, theirs.transport_wide_id);
            EXPECT_EQ(ours.transport_wide_id, 3);
            EXPECT_EQ(ours.codec.feedback, theirs.codec.feedback);
            EXPECT_EQ(ours.direction, purpose == sdp::Purpose::play ? sdp::Direction::recvonly : sdp::Direction::sendonly);
        }
    }
}

TEST(RtcOffer, PlayerOffersEveryCodec) {
    for (const char* name : {"H264", "H265", "VP8", "VP9", "AV1"}) {
        const Server server = server_for(offer_of(sdp::Purpose::play), name);
        const auto answer = read_answer(server.answer, sdp::Purpose::play);
        ASSERT_TRUE(answer.ok()) << name;
        EXPECT_TRUE(answer->agreement.sections[1].codec.is(name));
        EXPECT_TRUE(answer->agreement.sections[1].rtx_payload_type.has_value());
    }
}

TEST(RtcOffer, PublisherOffersH264WithOrWithoutAudio) {
    const auto read = sdp::parse_description(write_offer(offer_of(sdp::Purpose::publish, false)));
    ASSERT_TRUE(read.ok());
    ASSERT_EQ(read->sections.size(), 1U);
    const sdp::Section& section = read->sections[0];
    EXPECT_EQ(section.direction, sdp::Direction::sendonly);
    ASSERT_EQ(section.codecs.size(), 2U);
    EXPECT_EQ(section.codecs[0].parameter("profile-level-id"), "64001f");
    ASSERT_EQ(section.ssrcs.size(), 2U);
    EXPECT_EQ(section.ssrcs[0].ssrc, 12U);
    ASSERT_EQ(section.ssrc_groups.size(), 1U);
    EXPECT_EQ(section.ssrc_groups[0].ssrcs, (std::vector<std::uint32_t>{12, 13}));
    EXPECT_TRUE(read_answer(server_for(offer_of(sdp::Purpose::publish, false)).answer, sdp::Purpose::publish).ok());
}

TEST(RtcOffer, LayersAreNegotiated) {
    RtcOffer offer = offer_of(sdp::Purpose::publish, false);
    offer.layers = {"l1", "l2", "l3"};
    const Server server = server_for(offer);
    ASSERT_EQ(server.agreement.sections.size(), 1U);
    EXPECT_EQ(server.agreement.sections[0].layers, offer.layers);
    EXPECT_EQ(server.agreement.sections[0].rid_id, kRidExtension);
    EXPECT_TRUE(read_answer(server.answer, sdp::Purpose::publish).ok());
}

TEST(RtcOffer, RefusesUnsuitableAnswers) {
    EXPECT_FALSE(read_answer("", sdp::Purpose::play).ok());
    const std::string tcp_only = server_for(offer_of(sdp::Purpose::play), "H264", {{"192.0.2.1", 9, true}}).answer;
    EXPECT_EQ(read_answer(tcp_only, sdp::Purpose::play).code(), Errc::unsupported);
    EXPECT_EQ(read_answer(server_for(offer_of(sdp::Purpose::play), "H264", {}).answer, sdp::Purpose::play).code(),
              Errc::unsupported);
    // A player whose answer requests it to send.
    EXPECT_EQ(read_answer(server_for(offer_of(sdp::Purpose::publish)).answer, sdp::Purpose::play).code(), Errc::unsupported);
    std::string broken = server_for(offer_of(sdp::Purpose::play)).answer;
    const auto port = broken.find(" 8000 typ");
    broken.replace(port, 5, " 99999");
    EXPECT_EQ(read_answer(broken.substr(0, broken.find("m=video")), sdp::Purpose::play).code(), Errc::unsupported);
}

TEST(RtcOffer, EveryTruncationOfAnAnswerIsReadOrRefused) {
    const std::string answer = server_for(offer_of(sdp::Purpose::play)).answer;
    std::size_t read = 0;
    for (std::size_t bytes = 0; bytes <= answer.size(); ++bytes)
        read += read_answer(std::string_view(answer).substr(0, bytes), sdp::Purpose::play).ok() ? 1 : 0;
    EXPECT_GT(read, 0U);
    EXPECT_LT(read, answer.size());
}

}  // namespace
}  // namespace live::bench
