#include "media/rtp/audio_to_rtp.hpp"

#include <gtest/gtest.h>

#include "media/rtp/bridge_fixture.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::media {
namespace {

using namespace bridge_test;

struct AudioToRtpTest : ::testing::Test {
    void push(const Packet& packet) { converter.push(packet); }
    Packet aac_config(Bytes config = hex("1210")) { return audio_packet(Codec::aac, Content::config, {}, config); }
    Packet aac(MediaTime dts, std::uint8_t fill = 7) { return audio_packet(Codec::aac, Content::frame, dts, Octets(20, fill)); }

    RtpLog rtp_log;
    BridgeOptions options;
    Lines lines;
    Log log{lines, "test"};
    EchoTranscoders transcoders;
    NoListener nobody;
    AudioToRtp converter{rtp_log, options, &transcoders, nobody, log};
};

TEST_F(AudioToRtpTest, TranscodesAac) {
    push(aac_config());
    push(aac(1s));
    push(aac(1'023ms));
    ASSERT_EQ(transcoders.made.size(), 1U);
    EXPECT_EQ(transcoders.made[0].from, Codec::aac);
    EXPECT_EQ(transcoders.made[0].to, Codec::opus);
    EXPECT_EQ(transcoders.made[0].bitrate, 48'000U);
    const auto packets = packets_of(rtp_log, MediaKind::audio);
    ASSERT_EQ(packets.size(), 2U);
    EXPECT_EQ(packets[0].timestamp, 48'000U);
    EXPECT_EQ(packets[1].time, 1'023ms);
    EXPECT_EQ(packets[1].arrived, TimePoint{} + 1'023ms);
    ASSERT_NE(rtp_log.track(MediaKind::audio), nullptr);
    EXPECT_EQ(rtp_log.track(MediaKind::audio)->codec, "opus");
    EXPECT_EQ(rtp_log.track(MediaKind::audio)->clock_rate, 48'000U);
    EXPECT_EQ(rtp_log.track(MediaKind::audio)->channels, 2);
}

TEST_F(AudioToRtpTest, AnotherConfigGetsAnotherTranscoder) {
    push(aac_config());
    push(aac_config());
    EXPECT_EQ(transcoders.made.size(), 1U) << "the same once more";
    push(aac_config(hex("1190")));
    EXPECT_EQ(transcoders.made.size(), 2U);
}

TEST_F(AudioToRtpTest, AudioThatComesTooFastIsLeftOutBeforeItIsTranscoded) {
    push(aac_config());  // 44.1 kHz
    for (int i = 0; i < 1'000; ++i) {
        Packet packet = aac(i * 23ms);
        packet.arrived = TimePoint{} + 1h;
        push(packet);
    }
    EXPECT_EQ(converter.counters().packets, 215U) << "five seconds of it";
    EXPECT_EQ(converter.counters().too_fast, 785U);
    EXPECT_EQ(transcoders.too_fast(), 785U);
    EXPECT_EQ(lines.count("as fast as it plays"), 1U);
    Packet later = aac(23s);
    later.arrived = TimePoint{} + 1h + 1s;
    push(later);
    EXPECT_EQ(converter.counters().packets, 216U);
}

TEST_F(AudioToRtpTest, Mp3NeedsNoConfig) {
    for (int i = 0; i < 3; ++i)
        push(audio_packet(Codec::mp3, Content::frame, i * 26ms, Octets(100, 1)));
    EXPECT_EQ(transcoders.made.size(), 1U);
    EXPECT_EQ(packets_of(rtp_log, MediaKind::audio).size(), 3U);
}

TEST_F(AudioToRtpTest, CountsBrokenFramesAndContinues) {
    push(aac_config());
    push(aac(0ms));
    for (int i = 0; i < 50; ++i)
        push(aac(i * 23ms, 0xEE));
    push(audio_packet(Codec::aac, Content::frame, 0ms, {}));
    push(aac(2s));
    EXPECT_EQ(converter.counters().broken, 50U);
    EXPECT_EQ(converter.counters().packets, 2U);
    EXPECT_EQ(lines.count("could not be converted to RTP"), 1U);
}

TEST_F(AudioToRtpTest, FramesThatAreLeftOutAreCountedApart) {
    push(aac_config());
    for (int i = 0; i < 5; ++i)
        push(aac(i * 23ms, 0xFF));
    push(aac(115ms));
    EXPECT_EQ(converter.counters().left_out, 5U);
    EXPECT_EQ(transcoders.left_out(), 5U);
    EXPECT_EQ(converter.counters().broken, 0U);
    EXPECT_EQ(converter.counters().packets, 1U);
    EXPECT_EQ(lines.count("full on purpose"), 1U);
}

TEST_F(AudioToRtpTest, LogsUnconvertibleCodecOnce) {
    transcoders.refused = Codec::speex;
    for (int i = 0; i < 10; ++i)
        push(audio_packet(Codec::speex, Content::frame, i * 20ms, Octets(30, 2)));
    EXPECT_EQ(lines.count("no audio"), 1U);
    EXPECT_EQ(transcoders.made.size(), 1U) << "tried once";
    EXPECT_EQ(rtp_log.track(MediaKind::audio), nullptr);
}

TEST_F(AudioToRtpTest, WithoutTranscodersOnlyOpus) {
    AudioToRtp alone{rtp_log, options, nullptr, nobody, log};
    alone.push(aac_config());
    alone.push(aac(0ms));
    EXPECT_TRUE(rtp_log.empty());
    EXPECT_EQ(lines.count("no audio"), 1U);
}

struct OpusToRtpTest : AudioToRtpTest {
    void start(std::uint8_t family = 0) {
        ByteWriter out;
        wire::codec::OpusHead head;
        head.mapping_family = family;
        head.mapping = Bytes(kMapping).first(family == 0 ? 0 : 2);
        write_opus_head(out, head);
        push(audio_packet(Codec::opus, Content::config, {}, out.written()));
    }
    // 20 ms of CELT, stereo.
    void frame(MediaTime dts) { push(audio_packet(Codec::opus, Content::frame, dts, kFrame)); }

    const Octets kFrame = hex("fc010203");
    const Octets kMapping = hex("0001");
};

TEST_F(OpusToRtpTest, PassesOpusOnAsItIs) {
    start();
    for (int i = 0; i < 100; ++i)
        frame(i * 20ms);
    const auto packets = packets_of(rtp_log, MediaKind::audio);
    ASSERT_EQ(packets.size(), 100U);
    for (std::size_t i = 0; i < packets.size(); ++i) {
        EXPECT_EQ(packets[i].timestamp, 960 * i);
        EXPECT_TRUE(std::ranges::equal(packets[i].payload.bytes(), kFrame));
    }
    EXPECT_TRUE(transcoders.made.empty());
}

TEST_F(OpusToRtpTest, StampsThatShakeDoNotReachTheLine) {
    start();
    for (const int ms : {0, 23, 38, 61, 79, 100})
        frame(std::chrono::milliseconds(ms));
    std::uint32_t expected = 0;
    for (const RtpPacket& packet : packets_of(rtp_log, MediaKind::audio)) {
        EXPECT_EQ(packet.timestamp, expected);
        expected += 960;
    }
}

TEST_F(OpusToRtpTest, KeepsGaps) {
    start();
    frame(0ms);
    frame(500ms);
    frame(2500ms);
    const auto packets = packets_of(rtp_log, MediaKind::audio);
    ASSERT_EQ(packets.size(), 3U);
    EXPECT_EQ(packets[1].timestamp, 500U * 48);
    EXPECT_EQ(packets[2].timestamp, 2'500U * 48);
}

TEST_F(OpusToRtpTest, SurroundIsRefused) {
    start(1);
    frame(0ms);
    EXPECT_TRUE(rtp_log.empty());
    EXPECT_EQ(converter.counters().broken, 1U);
}

}  // namespace
}  // namespace live::media
