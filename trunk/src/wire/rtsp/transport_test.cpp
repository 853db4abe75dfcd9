#include "wire/rtsp/transport.hpp"

#include <gtest/gtest.h>

namespace live::wire::rtsp {
namespace {

std::vector<Transport> transports_of(std::string_view header) {
    auto transports = parse_transports(header);
    EXPECT_TRUE(transports.ok()) << header;
    return transports.ok() ? *std::move(transports) : std::vector<Transport>{};
}

TEST(RtspTransport, ReadsTheAlternativesOfAClientInOrder) {
    const auto transports = transports_of("RTP/AVP/UDP;unicast;client_port=5000-5001, RTP/AVP/TCP;interleaved=0-1;mode=\"PLAY\"");
    ASSERT_EQ(transports.size(), 2U);
    EXPECT_EQ(transports[0].lower, Transport::Lower::udp);
    EXPECT_EQ(transports[0].client_port, (NumberPair{5000, 5001}));
    EXPECT_EQ(transports[1].lower, Transport::Lower::tcp);
    EXPECT_EQ(transports[1].interleaved, (NumberPair{0, 1}));
    EXPECT_EQ(transports[1].mode, Transport::Mode::play);
}

TEST(RtspTransport, ReadsSpellingsOfClients) {
    EXPECT_EQ(transports_of("rtp/avp;UNICAST;client_port=7000;mode=record")[0].client_port, (NumberPair{7000, 7001}));
    EXPECT_EQ(transports_of("RTP/AVP;mode=receive")[0].mode, Transport::Mode::record);
    EXPECT_EQ(transports_of("RTP/AVPF/UDP;mode=\"RECORD\"")[0].mode, Transport::Mode::record);
    EXPECT_TRUE(transports_of("RTP/SAVP;unicast")[0].is_secure);
    EXPECT_TRUE(transports_of("RTP/AVP;multicast;ttl=16")[0].is_multicast);
    EXPECT_EQ(transports_of("RTP/AVP;ssrc=4D2;source=192.0.2.1")[0].ssrc, 0x4D2U);
    EXPECT_EQ(transports_of("RTP/AVP;mode=\"PLAY,RECORD\";interleaved=4-5").size(), 1U);
}

TEST(RtspTransport, LeavesOutOtherProtocolsAndMalformedNumbers) {
    EXPECT_TRUE(transports_of("RAW/RAW/UDP;unicast, MP2T/H2221/UDP, RTP/AVP/SCTP, RTP, ,").empty());
    const auto transports = transports_of("RTP/AVP;client_port=70000-70001;interleaved=a-b;ssrc=xyz;server_port=1-;=;;");
    ASSERT_EQ(transports.size(), 1U);
    EXPECT_EQ(transports[0], Transport());
}

TEST(RtspTransport, WritesWhatItReads) {
    for (const std::string_view text :
         {"RTP/AVP/TCP;unicast;interleaved=2-3", "RTP/AVP;unicast;client_port=5000-5001;server_port=6970-6971;ssrc=0000002A",
          "RTP/SAVP;multicast;destination=239.0.0.1;source=192.0.2.1;mode=\"RECORD\""})
        EXPECT_EQ(write(transports_of(text)[0]), text);
}

TEST(RtspTransport, SurvivesEveryTruncation) {
    const std::string text = "RTP/AVP/TCP;unicast;interleaved=0-1;mode=\"PLAY\", RTP/AVP;client_port=1-2;ssrc=AB";
    for (std::size_t size = 0; size < text.size(); ++size)
        EXPECT_LE(transports_of(text.substr(0, size)).size(), 2U);
}

TEST(RtspTransport, HasABoundForAlternatives) {
    std::string text = "RTP/AVP";
    for (std::size_t i = 1; i < kTransportsMax; ++i)
        text += ",RTP/AVP";
    EXPECT_EQ(transports_of(text).size(), kTransportsMax);
    EXPECT_EQ(parse_transports(text + ",RTP/AVP").code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::rtsp
