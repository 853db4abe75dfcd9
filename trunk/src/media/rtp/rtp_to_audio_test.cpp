#include "media/rtp/rtp_to_audio.hpp"

#include <gtest/gtest.h>

#include "media/rtp/bridge_fixture.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::media {
namespace {

using namespace bridge_test;

const RtpTrack kOpus{MediaKind::audio, "opus", 48'000, 2, ""};

struct RtpToAudioTest : ::testing::Test {
    void push(RtpToAudio& to, MediaTime time, Octets payload = {0xFC, 1, 2}) {
        to.push({.kind = MediaKind::audio, .payload = Slice::copy_of(payload), .time = time});
    }

    BridgeOptions options;
    Lines lines;
    Log log{lines, "test"};
    EchoTranscoders transcoders;
    NoListener nobody;
    RtpToAudio converter{options, &transcoders, nobody, log};
};

TEST_F(RtpToAudioTest, MakesAac) {
    options.aac_bitrate = 96'000;
    RtpToAudio other{options, &transcoders, nobody, log};
    ASSERT_TRUE(other.set_track(kOpus));
    push(other, 1s);
    push(other, 1'020ms);
    ASSERT_EQ(transcoders.made.size(), 1U);
    EXPECT_EQ(transcoders.made[0].from, Codec::opus);
    EXPECT_EQ(transcoders.made[0].to, Codec::aac);
    EXPECT_EQ(transcoders.made[0].bitrate, 96'000U);
    const auto config = other.poll();
    ASSERT_TRUE(config);
    EXPECT_EQ(config->content, Content::config);
    EXPECT_EQ(config->codec, Codec::aac);
    EXPECT_TRUE(std::ranges::equal(config->data.bytes(), hex("1190")));
    for (const MediaTime time : {1'000ms, 1'020ms}) {
        const auto frame = other.poll();
        ASSERT_TRUE(frame);
        EXPECT_EQ(frame->content, Content::frame);
        EXPECT_EQ(frame->dts, time);
    }
    EXPECT_FALSE(other.poll());
}

TEST_F(RtpToAudioTest, AudioThatComesTooFastIsLeftOutBeforeItIsTranscoded) {
    ASSERT_TRUE(converter.set_track(kOpus));
    for (int i = 0; i < 1'000; ++i)
        push(converter, i * 20ms);  // all at once
    EXPECT_EQ(converter.counters().frames, 250U);
    EXPECT_EQ(converter.counters().too_fast, 750U);
    EXPECT_EQ(transcoders.too_fast(), 750U);
    EXPECT_EQ(lines.count("as fast as it plays"), 1U);
}

TEST_F(RtpToAudioTest, PassesOpusWithoutTranscoder) {
    RtpToAudio alone{options, nullptr, nobody, log};
    EXPECT_TRUE(alone.set_track(kOpus));
    EXPECT_EQ(alone.codec(), Codec::opus);
    EXPECT_EQ(lines.count("cannot be converted to AAC"), 1U);
    push(alone, 0ms);
    const auto config = alone.poll();
    ASSERT_TRUE(config);
    EXPECT_EQ(config->content, Content::config);
    EXPECT_EQ(wire::codec::parse_opus_head(config->data.bytes())->channels, 2);
    const auto frame = alone.poll();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->codec, Codec::opus);
}

TEST_F(RtpToAudioTest, KeptOpusIsNotTouched) {
    options.keep_opus = true;
    RtpToAudio keeping{options, &transcoders, nobody, log};
    EXPECT_TRUE(keeping.set_track(kOpus));
    push(keeping, 0ms, {0xFC, 7, 8, 9});
    EXPECT_TRUE(transcoders.made.empty());
    EXPECT_EQ(lines.count("cannot be converted"), 0U);
    const auto config = keeping.poll();
    ASSERT_TRUE(config);
    EXPECT_EQ(config->codec, Codec::opus);
    const auto frame = keeping.poll();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->codec, Codec::opus);
    EXPECT_TRUE(std::ranges::equal(frame->data.bytes(), Octets{0xFC, 7, 8, 9}));
}

TEST_F(RtpToAudioTest, FramesThatAreLeftOutAreCountedApart) {
    converter.set_track(kOpus);
    for (int i = 0; i < 5; ++i)
        push(converter, i * 20ms, {0xFF});
    push(converter, 100ms);
    EXPECT_EQ(converter.counters().left_out, 5U);
    EXPECT_EQ(transcoders.left_out(), 5U);
    EXPECT_EQ(converter.counters().broken, 0U);
    EXPECT_EQ(converter.counters().frames, 1U);
    EXPECT_EQ(lines.lines.size(), 1U);
}

TEST_F(RtpToAudioTest, BrokenFramesAreCounted) {
    converter.set_track(kOpus);
    for (int i = 0; i < 20; ++i)
        push(converter, i * 20ms, {0xEE});
    push(converter, 400ms, {});
    push(converter, 420ms);
    EXPECT_EQ(converter.counters().broken, 20U);
    EXPECT_EQ(converter.counters().frames, 1U);
    EXPECT_EQ(lines.lines.size(), 1U);
}

TEST_F(RtpToAudioTest, LogsOtherCodecs) {
    EXPECT_FALSE(converter.set_track({MediaKind::audio, "PCMU", 8'000, 1, ""}));
    push(converter, 0ms);
    EXPECT_FALSE(converter.poll());
    EXPECT_EQ(lines.count("PCMU"), 1U);
}

}  // namespace
}  // namespace live::media
