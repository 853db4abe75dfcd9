#include "wire/sdp/answer.hpp"

#include <gtest/gtest.h>

#include "base/text/ascii.hpp"
#include "wire/sdp/sdp_vectors.hpp"

namespace live::wire::sdp {
namespace {

Description offer_of(std::string text, std::string_view from = {}, std::string_view to = {}) {
    if (!from.empty()) {
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
    }
    return parse_description(text).value();
}

Local local() {
    return {.product = "live",
            .session_id = 7,
            .session_name = "play",
            .stream = "live/cam",
            .ufrag = "abcd1234",
            .pwd = std::string(32, 'p'),
            .fingerprint = std::string(kFingerprintText),
            .cname = "c",
            .candidates = {{"203.0.113.1", 8000, false}, {"203.0.113.1", 8000, true}},
            .audio = {11, 12, "a"},
            .video = {21, 22, "v"}};
}

// An offer from an encoder that cannot fragment in either profile.
std::string both_without_fragments() {
    std::string offer = browser_publish_offer();
    for (std::size_t at = 0; (at = offer.find("packetization-mode=1", at)) != std::string::npos;)
        offer.replace(at, 20, "packetization-mode=0");
    return offer;
}

TEST(SdpAnswer, TakesAPublisher) {
    const Description offer = offer_of(browser_publish_offer());
    const auto agreement = negotiate(offer, {});
    ASSERT_TRUE(agreement.ok()) << agreement.error().text();
    ASSERT_EQ(agreement->sections.size(), 2U);
    const Accepted& video = agreement->sections[1];
    EXPECT_EQ(video.codec.payload_type, 106) << "42e01f before the first H.264";
    EXPECT_EQ(video.codec.feedback, (std::vector<std::string>{"transport-cc", "nack", "nack pli"}));
    EXPECT_FALSE(video.rtx_payload_type);
    EXPECT_EQ(video.transport_wide_id, 3);
    EXPECT_EQ(video.rid_id, 10);
    EXPECT_EQ(video.layers, (std::vector<std::string>{"q", "h", "f"}));
    EXPECT_EQ(video.direction, Direction::recvonly);
    EXPECT_EQ(agreement->setup, SetupRole::passive);
    EXPECT_EQ(agreement->remote_ufrag, "EsAw");
    EXPECT_EQ(agreement->remote_fingerprint.value, kFingerprintText);
}

TEST(SdpAnswer, APlayerWithoutArrivalReportsSendsRemb) {
    std::string text = browser_publish_offer();
    for (std::size_t at = 0; (at = text.find("sendonly", at)) != std::string::npos;)
        text.replace(at, 8, "recvonly");
    const auto feedback = [&text](const Terms& terms) { return negotiate(offer_of(text), terms)->sections[1].codec.feedback; };
    using Names = std::vector<std::string>;
    EXPECT_EQ(feedback({.purpose = Purpose::play}), (Names{"transport-cc", "nack", "nack pli"}));
    EXPECT_EQ(feedback({.purpose = Purpose::play, .transport_wide = Feedback::off}), (Names{"goog-remb", "nack", "nack pli"}));
    text = browser_publish_offer();
    EXPECT_EQ(feedback({.transport_wide = Feedback::off}), (Names{"nack", "nack pli"})) << "we send none";
}

TEST(SdpAnswer, WritesTheAnswerOfAPlayer) {
    const Description offer = offer_of(plain_play_offer());
    const auto agreement = negotiate(offer, {.purpose = Purpose::play, .repair = Repair::rtx});
    ASSERT_TRUE(agreement.ok()) << agreement.error().text();
    const std::string common =
        "c=IN IP4 0.0.0.0\r\na=ice-ufrag:abcd1234\r\na=ice-pwd:pppppppppppppppppppppppppppppppp\r\n"
        "a=fingerprint:sha-256 " +
        std::string(kFingerprintText) + "\r\na=setup:passive\r\n";
    const std::string candidates =
        "a=candidate:0 1 udp 2130706431 203.0.113.1 8000 typ host generation 0\r\n"
        "a=candidate:1 1 tcp 2130706430 203.0.113.1 8000 typ host tcptype passive\r\n";
    const std::string wanted =
        "v=0\r\no=live 7 2 IN IP4 0.0.0.0\r\ns=play\r\nt=0 0\r\na=ice-lite\r\na=group:BUNDLE video audio\r\n"
        "a=msid-semantic: WMS live/cam\r\n"
        "m=video 9 UDP/TLS/RTP/SAVPF 125 126\r\n" +
        common +
        "a=mid:video\r\na=sendonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\na=rtpmap:125 H264/90000\r\na=rtcp-fb:125 nack\r\n"
        "a=rtcp-fb:125 nack pli\r\na=fmtp:125 profile-level-id=640028; packetization-mode=1\r\na=rtpmap:126 rtx/90000\r\n"
        "a=fmtp:126 apt=125\r\na=msid:live/cam v\r\na=ssrc-group:FID 21 22\r\na=ssrc:21 cname:c\r\na=ssrc:21 msid:live/cam v\r\n"
        "a=ssrc:22 cname:c\r\na=ssrc:22 msid:live/cam v\r\n" +
        candidates + "m=audio 9 UDP/TLS/RTP/SAVPF 109\r\n" + common +
        "a=mid:audio\r\na=sendonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\na=rtpmap:109 OPUS/48000/2\r\na=msid:live/cam a\r\n"
        "a=ssrc:11 cname:c\r\na=ssrc:11 msid:live/cam a\r\n" +
        candidates;
    EXPECT_EQ(write_answer(offer, *agreement, local()), wanted);
}

TEST(SdpAnswer, CanBeReadByItsOwnParser) {
    const Description offer = offer_of(browser_publish_offer());
    const auto agreement = negotiate(offer, {.repair = Repair::rtx});
    const Description answer = offer_of(write_answer(offer, *agreement, local()));
    ASSERT_EQ(answer.sections.size(), 2U);
    EXPECT_TRUE(answer.ice_lite);
    EXPECT_EQ(answer.bundle, offer.bundle);
    EXPECT_EQ(answer.sections[1].rtx_of(106)->payload_type, 107);
    EXPECT_EQ(answer.sections[1].simulcast->receive.size(), 3U);
    EXPECT_EQ(answer.sections[1].extension_id(kTransportWideUri), 3);
    EXPECT_TRUE(answer.sections[1].ssrcs.empty()) << "we send nothing to a publisher";
    EXPECT_EQ(answer.sections[0].candidates.size(), 2U);
}

TEST(SdpAnswer, ChoosesTheRole) {
    const auto setup = [](const char* offered, SetupRole preferred) {
        const auto text = offer_of(plain_play_offer(), "a=setup:active", offered);
        return negotiate(text, {.purpose = Purpose::play, .role_for_actpass = preferred})->setup;
    };
    EXPECT_EQ(setup("a=setup:active", SetupRole::active), SetupRole::passive);
    EXPECT_EQ(setup("a=setup:passive", SetupRole::passive), SetupRole::active);
    EXPECT_EQ(setup("a=setup:actpass", SetupRole::passive), SetupRole::passive);
    EXPECT_EQ(setup("a=setup:actpass", SetupRole::active), SetupRole::active);
    EXPECT_EQ(setup("a=setup:holdconn", SetupRole::active), SetupRole::passive);
    EXPECT_EQ(setup("a=x", SetupRole::active), SetupRole::active) << "nothing said is actpass";
}

TEST(SdpAnswer, FollowsTheWantedCodec) {
    const Description offer = offer_of(browser_publish_offer());
    const auto type = [&](std::vector<std::string> video) {
        const auto agreement = negotiate(offer, {.video = std::move(video)});
        return agreement.ok() ? agreement->sections[1].codec.payload_type : 0;
    };
    EXPECT_EQ(type({"AV1"}), 45);
    EXPECT_EQ(type({"H265", "VP9"}), 98);
    EXPECT_EQ(type({"H265"}), 0);
    EXPECT_EQ(negotiate(offer, {.audio = {"PCMA"}})->sections[0].codec.payload_type, 8);
}

// RFC 6184, 8.1: mode 0 is the default.
TEST(SdpAnswer, AcceptsSingleNalAvcWithoutAlternative) {
    const std::string said = "profile-level-id=640028; packetization-mode=1";
    const auto codec_of = [&](std::string_view format, std::vector<std::string> video = {"H264"}) {
        const auto agreement =
            negotiate(offer_of(plain_play_offer(), said, format), {.purpose = Purpose::play, .video = std::move(video)});
        return agreement.ok() ? agreement->sections[0].codec.format : agreement.error().text();
    };
    for (const char* format : {"packetization-mode=0", "profile-level-id=42e01f", "packetization-mode=0 "})
        EXPECT_EQ(codec_of(format), ascii::trimmed(format, " "));
    EXPECT_EQ(codec_of("packetization-mode=2").substr(0, 12), "unsupported:") << "interleaved";
    const Description both = offer_of(browser_publish_offer(), "packetization-mode=1;profile-level-id=42e01f",
                                      "packetization-mode=0;profile-level-id=42e01f");
    EXPECT_EQ(negotiate(both, {})->sections[1].codec.payload_type, 102) << "not where the offer has mode 1 too";
    const Description other = offer_of(both_without_fragments());
    EXPECT_EQ(negotiate(other, {.video = {"H264", "VP8"}})->sections[1].codec.payload_type, 96)
        << "nor where it has another codec";
    EXPECT_EQ(negotiate(other, {})->sections[1].codec.payload_type, 106);
    const auto answer = offer_of(write_answer(other, *negotiate(other, {}), local()));
    EXPECT_EQ(answer.sections[1].codecs[0].parameter("packetization-mode"), "0");
}

TEST(SdpAnswer, IgnoresUndeclaredLayers) {
    const Description offer = offer_of(browser_publish_offer(), "a=rid:h send", "a=rid:x send");
    EXPECT_EQ(negotiate(offer, {})->sections[1].layers, (std::vector<std::string>{"q", "f"}));
}

TEST(SdpAnswer, TermsTakeFeedbackAway) {
    const Description offer = offer_of(browser_publish_offer());
    const auto agreement = negotiate(offer, {.nack = Feedback::off, .transport_wide = Feedback::off});
    EXPECT_EQ(agreement->sections[1].codec.feedback, (std::vector<std::string>{"nack pli"}));
    EXPECT_EQ(agreement->sections[1].transport_wide_id, 0);
}

TEST(SdpAnswer, RefusesASectionOfAKindWeDoNotHave) {
    const Description offer = offer_of(browser_publish_offer());
    const auto agreement = negotiate(offer, {.audio = {}});
    ASSERT_EQ(agreement->sections.size(), 1U);
    const Description answer = offer_of(write_answer(offer, *agreement, local()));
    EXPECT_EQ(answer.sections[0].port, 0);
    EXPECT_EQ(answer.sections[0].direction, Direction::inactive);
    EXPECT_EQ(answer.bundle, (std::vector<std::string>{"1"}));
}

TEST(SdpAnswer, TakesTheFirstSectionOfAKind) {
    const Description offer = offer_of(browser_publish_offer() + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:2\r\n");
    const auto agreement = negotiate(offer, {});
    ASSERT_TRUE(agreement.ok()) << agreement.error().text();
    EXPECT_EQ(offer_of(write_answer(offer, *agreement, local())).sections[2].port, 0);
}

// RFC 3264, 6.
TEST(SdpAnswer, AnswersUnsupportedAudioWithPortZero) {
    const auto why = [](std::string_view from, std::string_view to) {
        const Description offer = offer_of(browser_publish_offer(), from, to);
        const auto agreement = negotiate(offer, {});
        if (!agreement.ok() || agreement->refused.size() != 1)
            return std::string("nothing is refused");
        const Description answer = offer_of(write_answer(offer, *agreement, local()));
        EXPECT_EQ(answer.sections[0].port, 0);
        EXPECT_EQ(answer.sections[1].port, 9);
        EXPECT_EQ(answer.bundle, (std::vector<std::string>{"1"}));
        return agreement->refused.front().sentence();
    };
    EXPECT_EQ(why("a=rtcp-mux", "a=x"), "SDP line 8, m=audio: without a=rtcp-mux");
    EXPECT_EQ(why("a=mid:0", "a=x"), "SDP line 8, m=audio: without a=mid");
    EXPECT_EQ(why("a=sendonly", "a=recvonly"), "SDP line 8, m=audio: a publisher sends, this is recvonly");
    EXPECT_EQ(why("a=sendonly", "a=inactive"), "SDP line 8, m=audio: a publisher sends, this is inactive");
    EXPECT_EQ(why("opus/48000/2", "opus/48000"), "SDP line 8, m=audio: none of its codecs is one of opus");
}

// Browser players that open a data channel offer it first or last; the other kinds are unusual.
TEST(SdpAnswer, AnswersSectionsOfOtherKindsWithPortZeroAndTheirOwnWords) {
    const std::string more =
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\na=mid:data\na=sctp-port:5000\n"
        "m=text 9 UDP/TLS/RTP/SAVPF 98 100\na=mid:t\nm=image 9 udptl\n";
    const Description offer = offer_of(plain_play_offer() + more, "BUNDLE video audio", "BUNDLE data video audio t");
    const auto agreement = negotiate(offer, {.purpose = Purpose::play});
    ASSERT_TRUE(agreement.ok()) << agreement.error().text();
    EXPECT_EQ(agreement->sections.size(), 2U);
    EXPECT_EQ(agreement->refused.size(), 3U);
    const std::string answer = write_answer(offer, *agreement, local());
    EXPECT_NE(answer.find("m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:data\r\na=inactive\r\n"
                          "m=text 0 UDP/TLS/RTP/SAVPF 98\r\nc=IN IP4 0.0.0.0\r\na=mid:t\r\na=inactive\r\nm=image 0 udptl 0\r\n"),
              std::string::npos)
        << answer;
    EXPECT_NE(answer.find("a=group:BUNDLE video audio\r\n"), std::string::npos);
    EXPECT_EQ(offer_of(answer).sections.size(), 5U);
    const auto nothing = negotiate(offer_of("v=0\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\n"), {});
    EXPECT_EQ(nothing.error().text(), "unsupported: SDP line 2, m=application: neither audio nor video");
}

TEST(SdpAnswer, AVideoSectionIsChosenThoughAnotherOneIsNotSupported) {
    const Description offer = offer_of(browser_publish_offer() +
                                           "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:2\r\na=rtcp-mux\r\n"
                                           "a=sendonly\r\na=rtpmap:96 VP8/90000\r\n",
                                       "BUNDLE 0 1", "BUNDLE 0 1 2");
    const auto agreement = negotiate(offer, {.video = {"H265", "VP8"}});
    EXPECT_EQ(agreement.ok() ? agreement->sections[1].index : 0, 1U);
    const Description second = offer_of(browser_publish_offer() +
                                            "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:2\r\na=rtcp-mux\r\n"
                                            "a=sendonly\r\na=rtpmap:96 H265/90000\r\n",
                                        "BUNDLE 0 1", "BUNDLE 0 1 2");
    const auto other = negotiate(second, {.video = {"H265"}});
    ASSERT_TRUE(other.ok()) << other.error().text();
    EXPECT_EQ(other->sections[1].index, 2U);
    EXPECT_EQ(other->refused.size(), 1U);
}

// RTX answers NACKs.
TEST(SdpAnswer, HasNoRtxWithoutNack) {
    const Description offer = offer_of(browser_publish_offer());
    const Terms terms{.repair = Repair::rtx, .nack = Feedback::off};
    const auto agreement = negotiate(offer, terms);
    EXPECT_FALSE(agreement->sections[1].rtx_payload_type);
    EXPECT_EQ(write_answer(offer, *agreement, local()).find("rtx"), std::string::npos);
    EXPECT_TRUE(negotiate(offer, {.repair = Repair::rtx})->sections[1].rtx_payload_type);
    EXPECT_FALSE(negotiate(offer, {.repair = Repair::resend})->sections[1].rtx_payload_type);
}

TEST(SdpAnswer, ReportsWhyItCannotAgree) {
    const auto why = [](std::string_view from, std::string_view to, Purpose purpose = Purpose::publish) {
        const auto agreement = negotiate(offer_of(browser_publish_offer(), from, to), {.purpose = purpose});
        return agreement.ok() ? std::string("agreed") : agreement.error().text();
    };
    EXPECT_EQ(why("a=group:BUNDLE 0 1", "a=x"), "unsupported: SDP without a=group:BUNDLE");
    EXPECT_EQ(why("a=group:BUNDLE 0 1", "a=group:BUNDLE 0"), "unsupported: SDP line 37, m=video: not in the BUNDLE group");
    EXPECT_EQ(why("a=mid:0", "a=mid:0", Purpose::play), "unsupported: SDP line 37, m=video: a player receives, this is sendonly");
    EXPECT_EQ(why("a=mid:1", "a=x"), "unsupported: SDP line 37, m=video: without a=mid");
    EXPECT_EQ(why("a=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1", "a=x"),
              "malformed: SDP line 8, m=audio: without a=ice-ufrag and a=ice-pwd");
    EXPECT_EQ(why("a=fingerprint:sha-256", "a=fingerprint:sha-1"),
              "malformed: SDP line 8, m=audio: without a=fingerprint of SHA-256 or better");
    EXPECT_EQ(why("a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id", "a=x"),
              "unsupported: SDP line 37, m=video: simulcast without the rid extension");
    EXPECT_EQ(negotiate(offer_of("v=0\n"), {}).code(), Errc::unsupported);
}

}  // namespace
}  // namespace live::wire::sdp
