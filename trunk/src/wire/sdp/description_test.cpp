#include "wire/sdp/description.hpp"

#include <gtest/gtest.h>

#include "wire/sdp/sdp_vectors.hpp"

namespace live::wire::sdp {
namespace {

Description parsed(const std::string& text) {
    auto description = parse_description(text);
    EXPECT_TRUE(description.ok()) << (description.ok() ? "" : description.error().text());
    return description.ok() ? std::move(*description) : Description{};
}

std::string sentence_of(const std::string& text, Errc wanted = Errc::malformed) {
    const auto description = parse_description(text);
    if (description.ok())
        return "accepted";
    EXPECT_EQ(description.code(), wanted) << text.substr(0, 200);
    return description.error().sentence();
}

const std::string kTop = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n";

TEST(SdpDescription, ReadsABrowsersOffer) {
    const Description offer = parsed(browser_publish_offer());
    ASSERT_EQ(offer.sections.size(), 2U);
    EXPECT_EQ(offer.bundle, (std::vector<std::string>{"0", "1"}));
    const Section& audio = offer.sections[0];
    EXPECT_EQ(audio.kind, MediaKind::audio);
    EXPECT_EQ(audio.port, 9);
    EXPECT_EQ(audio.protocol, "UDP/TLS/RTP/SAVPF");
    EXPECT_EQ(audio.mid, "0");
    EXPECT_EQ(audio.direction, Direction::sendonly);
    EXPECT_TRUE(audio.rtcp_mux && audio.rtcp_rsize);
    EXPECT_EQ(audio.msid, "s0 a0");
    ASSERT_EQ(audio.codecs.size(), 8U);
    EXPECT_EQ(audio.codecs[0].payload_type, 111);
    EXPECT_TRUE(audio.codecs[0].is("OPUS"));
    EXPECT_EQ(audio.codecs[0].channels, 2);
    EXPECT_EQ(audio.codecs[0].parameter("UseInbandFec"), "1");
    EXPECT_FALSE(audio.codecs[0].parameter("stereo"));
    ASSERT_EQ(audio.ssrcs.size(), 1U);
    EXPECT_EQ(audio.ssrcs[0].ssrc, 3'570'614'608U);
    EXPECT_EQ(audio.ssrcs[0].cname, "4TOk42mSjXCkVIa6");
    EXPECT_EQ(offer.ice_ufrag(audio), "EsAw");
    EXPECT_EQ(offer.ice_pwd(audio), "P2uYro0UCOQ4zxjKXaWCBui1");
    EXPECT_EQ(offer.fingerprint(audio)->value, kFingerprintText);
    EXPECT_EQ(offer.setup(audio), SetupRole::actpass);
}

TEST(SdpDescription, ReadsVideoFeedbackRtxAndLayers) {
    const Description offer = parsed(browser_publish_offer());
    const Section& video = offer.sections[1];
    ASSERT_NE(video.codec(106), nullptr);
    EXPECT_TRUE(video.codec(106)->has_feedback("nack pli"));
    EXPECT_FALSE(video.codec(106)->has_feedback("pli"));
    EXPECT_EQ(video.codec(106)->parameter("profile-level-id"), "42e01f");
    EXPECT_EQ(video.rtx_of(106)->payload_type, 107);
    EXPECT_EQ(video.rtx_of(107), nullptr);
    EXPECT_EQ(video.codec(1), nullptr);
    EXPECT_EQ(video.extension_id("urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"), 10);
    EXPECT_EQ(video.extension_id("urn:none"), 0);
    ASSERT_EQ(video.rids.size(), 3U);
    EXPECT_EQ(video.rids[1].id, "h");
    EXPECT_TRUE(video.rids[1].is_send);
    ASSERT_TRUE(video.simulcast);
    EXPECT_EQ(video.simulcast->send, (std::vector<std::vector<std::string>>{{"q"}, {"h"}, {"f"}}));
    EXPECT_TRUE(video.simulcast->receive.empty());
}

TEST(SdpDescription, SectionInheritsSessionAttributes) {
    const Description offer = parsed(plain_play_offer());
    ASSERT_EQ(offer.sections.size(), 2U);
    const Section& video = offer.sections[0];
    EXPECT_EQ(video.direction, Direction::recvonly);
    EXPECT_EQ(offer.ice_ufrag(video), "abcd");
    EXPECT_EQ(offer.fingerprint(video)->algorithm, "sha-256") << "SHA-1 is passed over";
    EXPECT_EQ(offer.setup(video), SetupRole::active);
    EXPECT_TRUE(video.codecs[0].has_feedback("nack")) << "by a=rtcp-fb:*";
    EXPECT_EQ(video.codecs[0].parameter("packetization-mode"), "1") << "blanks between parameters";
}

TEST(SdpDescription, BlanksAroundAValueAreNotTheValue) {
    const Description offer = parsed(
        "v=0 \r\na=group:BUNDLE 0 \r\na=setup:actpass \r\na=ice-ufrag:abcd \r\na=ice-pwd:abcdefghijklmnopqrstuv\t\r\n"
        "a=fingerprint:sha-256 " +
        std::string(kFingerprintText) +
        " \r\nm=video 9 UDP/TLS/RTP/SAVPF 108 109 \r\na=mid: 0 \r\na=sendonly \r\na=rtcp-mux \r\na=rtcp-rsize \r\n"
        "a=rtpmap:108 H264/90000 \r\na=rtcp-fb:108 nack \r\na=rtcp-fb:108 nack pli \r\na=rtcp-fb:108 transport-cc\t \r\n"
        "a=fmtp:108 packetization-mode=1 ; profile-level-id = 42e01f \r\na=rtpmap:109 rtx/90000 \r\na=fmtp:109 apt=108 \r\n"
        "a=extmap:3 urn:x \r\na=ssrc:1 cname:x \r\na=ssrc-group:FID 1 2 \r\na=rid:h send \r\na=simulcast:send h \r\n   \r\n");
    ASSERT_EQ(offer.sections.size(), 1U);
    const Section& video = offer.sections[0];
    const Codec& codec = video.codecs[0];
    EXPECT_EQ(codec.feedback, (std::vector<std::string>{"nack", "nack pli", "transport-cc"})) << "as pion 3 writes them";
    EXPECT_EQ(codec.parameter("packetization-mode"), "1");
    EXPECT_EQ(codec.parameter("profile-level-id"), "42e01f");
    EXPECT_EQ(video.rtx_of(108)->payload_type, 109);
    EXPECT_EQ(video.mid, "0");
    EXPECT_EQ(video.direction, Direction::sendonly);
    EXPECT_TRUE(video.rtcp_mux && video.rtcp_rsize);
    EXPECT_EQ(video.extension_id("urn:x"), 3);
    EXPECT_EQ(video.ssrcs[0].cname, "x");
    EXPECT_EQ(video.simulcast->send, (std::vector<std::vector<std::string>>{{"h"}}));
    EXPECT_EQ(offer.bundle, (std::vector<std::string>{"0"}));
    EXPECT_EQ(offer.setup(video), SetupRole::actpass);
    EXPECT_EQ(offer.ice_pwd(video), "abcdefghijklmnopqrstuv");
    EXPECT_EQ(offer.fingerprint(video)->value, kFingerprintText);
}

TEST(SdpDescription, StaticPayloadTypesNeedNoMap) {
    const Description offer = parsed("v=0\nm=audio 9 RTP/AVP 8 0 9 0\n");
    ASSERT_EQ(offer.sections[0].codecs.size(), 3U);
    EXPECT_TRUE(offer.sections[0].codecs[0].is("PCMA"));
    EXPECT_EQ(offer.sections[0].codecs[1].clock_rate, 8'000U);
}

TEST(SdpDescription, IgnoresUnknownElements) {
    const Description offer = parsed(
        "v=0\r\nx=y\r\n\r\na=novelty\r\nm=message 9 TCP/MSRP *\r\na=path:x\r\nm=application 9 UDP/DTLS/SCTP "
        "webrtc-datachannel\r\n"
        "m=video 9/2 X 96\r\na=rtpmap:97 VP8/90000\r\na=fmtp:97 x\r\na=rtcp-fb:97 nack\r\na=what:ever\r\nb=AS:1\r\n");
    ASSERT_EQ(offer.sections.size(), 3U);
    EXPECT_EQ(offer.sections[0].kind, MediaKind::data);
    EXPECT_EQ(offer.sections[0].media, "message");
    EXPECT_EQ(offer.sections[1].kind, MediaKind::data);
    EXPECT_EQ(offer.sections[1].media, "application");
    EXPECT_TRUE(offer.sections[2].codecs[0].name.empty());
}

TEST(SdpDescription, SimulcastHasAlternativesAndBothDirections) {
    const Description offer = parsed(kTop + "a=simulcast:send 1,~2;3 recv 4\r\n");
    EXPECT_EQ(offer.sections[0].simulcast->send, (std::vector<std::vector<std::string>>{{"1", "2"}, {"3"}}));
    EXPECT_EQ(offer.sections[0].simulcast->receive, (std::vector<std::vector<std::string>>{{"4"}}));
}

TEST(SdpDescription, AnErrorNamesTheLine) {
    EXPECT_EQ(sentence_of(kTop + "a=rtpmap:96 VP8\r\n"), "SDP line 3, \"a=rtpmap:96 VP8\": no name and clock rate");
    EXPECT_EQ(sentence_of("v=0\nm=video x X 96\n"), "SDP line 2, \"m=video x X 96\": no port");
}

TEST(SdpDescription, RefusesKnownLinesThatBreakTheirForm) {
    for (const char* line : {"a=rtpmap:x VP8/90000",
                             "a=rtpmap:128 VP8/90000",
                             "a=rtpmap:96 VP8/0",
                             "a=rtpmap:96 /90000",
                             "a=rtpmap:96 VP8/90000/0",
                             "a=rtpmap:96 VP8/90000/x",
                             "a=rtpmap:96 VP8/-1",
                             "a=fmtp: x",
                             "a=rtcp-fb:x nack",
                             "a=extmap:0 urn:x",
                             "a=extmap:5000 urn:x",
                             "a=extmap:1",
                             "a=ssrc:x cname:y",
                             "a=ssrc:4294967296 cname:y",
                             "a=ssrc-group:FID 1 x",
                             "a=rid: send",
                             "a=rid:a.b send",
                             "a=rid:a sideways",
                             "a=simulcast:up 1",
                             "a=simulcast:send",
                             "a=simulcast:send ;",
                             "a=simulcast:send 1 send 2",
                             "a=simulcast:send ~",
                             "a=mid:",
                             "a=ice-ufrag:abc",
                             "a=ice-ufrag:ab cd",
                             "a=ice-pwd:short",
                             "a=setup:maybe",
                             "a=fingerprint:sha-256 00:11",
                             "m=audio 70000 X 0",
                             "m=audio 9",
                             "m=audio 9 X 200",
                             "m=audio 9 X -1",
                             "nonsense"})
        EXPECT_NE(sentence_of(kTop + line + "\r\n"), "accepted") << line;
    for (const char* text : {"", "m=audio 9 X 0\n", "o=- 1 1 IN IP4 0\nv=0\n", "v=1\n", "\n\n"})
        EXPECT_NE(sentence_of(text), "accepted") << text;
    EXPECT_NE(sentence_of(kTop + "a=mid:x\ry\r\n"), "accepted") << "a control character";
}

TEST(SdpDescription, EveryTruncationIsReadOrRefused) {
    for (const std::string& text : {browser_publish_offer(), plain_play_offer()})
        for (std::size_t size = 0; size < text.size(); ++size) {
            const auto description = parse_description(std::string_view(text).substr(0, size));
            EXPECT_TRUE(description.ok() || description.code() == Errc::malformed) << size;
        }
}

TEST(SdpDescription, HasBounds) {
    const auto lines = [](const std::string& line, std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i)
            text += line;
        return text;
    };
    struct Case {
        const char* what;
        std::string head;
        std::string line;
        std::size_t max;
    };
    const Case cases[] = {
        {"sections", "v=0\n", "m=x 9 Y\n", kSectionsMax},
        {"extensions", kTop, "a=extmap:1 u\n", kExtensionsMax},
        {"rids", kTop, "a=rid:a send\n", kRidsMax},
        {"candidates", kTop, "a=candidate:x\n", kCandidatesMax},
        {"groups", kTop, "a=ssrc-group:FID 1\n", kSsrcsMax},
        {"feedback", kTop, "a=rtcp-fb:96 nack\n", kFeedbackMax},
        {"lines", "v=0\n", "\n", kLinesMax - 1},
    };
    for (const Case& wanted : cases) {
        EXPECT_TRUE(parse_description(wanted.head + lines(wanted.line, wanted.max)).ok()) << wanted.what;
        EXPECT_EQ(parse_description(wanted.head + lines(wanted.line, wanted.max + 1)).code(), Errc::limit) << wanted.what;
    }
    std::string ssrcs = kTop;
    for (std::size_t i = 0; i <= kSsrcsMax; ++i)
        ssrcs += "a=ssrc:" + std::to_string(i) + " x\n";
    EXPECT_EQ(parse_description(ssrcs).code(), Errc::limit);
    EXPECT_TRUE(parse_description("v=0\ns=" + std::string(kLineBytesMax - 2, 'x')).ok());
    EXPECT_EQ(parse_description("v=0\ns=" + std::string(kLineBytesMax - 1, 'x')).code(), Errc::limit);
    EXPECT_EQ(parse_description(std::string(kTextBytesMax + 1, '\n')).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::sdp
