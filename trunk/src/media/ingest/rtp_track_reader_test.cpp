#include "media/ingest/rtp_track_reader.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/video/avc.hpp"

namespace live::media {
namespace {

using Format = RtpTrackReader::Format;

TEST(RtpTrackReader, RefusesCodecsAndConfigurationsThatItCannotRead) {
    EXPECT_EQ(RtpTrackReader::check({.kind = MediaKind::video, .codec = Codec::none}).code(), Errc::unsupported);
    EXPECT_EQ(RtpTrackReader::check({.kind = MediaKind::data, .codec = Codec::avc}).code(), Errc::unsupported);
    EXPECT_EQ(RtpTrackReader::check({.kind = MediaKind::audio, .codec = Codec::avc}).code(), Errc::unsupported);
    EXPECT_FALSE(RtpTrackReader::check({.kind = MediaKind::audio, .codec = Codec::aac}).ok());
    EXPECT_TRUE(RtpTrackReader::check({.kind = MediaKind::audio, .codec = Codec::g711a}).ok());
}

// ffmpeg leaves the parameter sets of a copied stream in the description.
TEST(RtpTrackReader, TakesParameterSetsFromTheDescription) {
    const auto record = wire::codec::avc_vectors()[0].record;
    const auto config = wire::codec::parse_avc_config(record);
    Format format;
    format.codec = Codec::avc;
    for (const Bytes set : {config->sps[0], config->pps[0]})
        format.parameter_sets.emplace_back(set.begin(), set.end());
    const Log log;
    RtpTrackReader reader(format, log);
    reader.push({1, 9'000, true, hex("6588840a")}, 100ms);
    const auto first = reader.poll();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->content, Content::config);
    EXPECT_EQ(wire::codec::parse_avc_config(first->data.bytes())->sps.size(), 1U);
    const auto frame = reader.poll();
    ASSERT_TRUE(frame);
    EXPECT_TRUE(frame->key);
    EXPECT_EQ(frame->dts, MediaTime(100ms));
}

TEST(RtpTrackReader, SplitsAccessUnitsOfAac) {
    Format format{.kind = MediaKind::audio, .codec = Codec::aac, .clock_rate = 48'000, .channels = 2, .config = hex("1190")};
    const Log log;
    RtpTrackReader reader(format, log);
    reader.push({1, 4'800, true, hex("0020 0018 0010 aabbcc ddee")}, 100ms);
    const auto config = reader.poll();
    ASSERT_TRUE(config);
    EXPECT_EQ(config->content, Content::config);
    EXPECT_EQ(config->data.size(), 2U);
    const auto first = reader.poll();
    const auto second = reader.poll();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->dts, MediaTime(100ms));
    EXPECT_EQ(second->dts, MediaTime(100ms) + MediaTime(1'024 * 1'000'000LL / 48'000));
    EXPECT_FALSE(reader.poll());
}

TEST(RtpTrackReader, PassesOpusAndG711On) {
    const Log log;
    RtpTrackReader opus({.kind = MediaKind::audio, .codec = Codec::opus, .clock_rate = 48'000, .channels = 2}, log);
    opus.push({1, 0, true, hex("fc")}, 0ms);
    EXPECT_EQ(opus.poll()->content, Content::config);
    EXPECT_EQ(opus.poll()->content, Content::frame);
    RtpTrackReader alaw({.kind = MediaKind::audio, .codec = Codec::g711a, .clock_rate = 8'000}, log);
    alaw.push({1, 0, true, hex("d5d5")}, 0ms);
    EXPECT_EQ(alaw.poll()->data.size(), 2U);
    EXPECT_FALSE(alaw.poll());
}

TEST(RtpTrackReader, TakesTheConfigurationOfLatmFromTheDescription) {
    const Log log;
    const Format format{
        .kind = MediaKind::audio, .codec = Codec::aac, .clock_rate = 44'100, .config = hex("400024203fc0"), .is_latm = true};
    ASSERT_TRUE(RtpTrackReader::check(format).ok());
    RtpTrackReader reader(format, log);
    reader.push({1, 0, true, hex("03aabbcc")}, 20ms);
    EXPECT_EQ(reader.poll()->data.size(), 2U) << "an AudioSpecificConfig";
    EXPECT_EQ(reader.poll()->data.size(), 3U);
    reader.push({2, 1'024, true, hex("02aabb")}, 43ms);
    EXPECT_EQ(reader.poll()->content, Content::frame) << "the configuration is the same";
    EXPECT_EQ(RtpTrackReader::check({.kind = MediaKind::audio, .codec = Codec::aac, .config = hex("40"), .is_latm = true}).code(),
              Errc::need_more);
}

TEST(RtpTrackReader, ReadsFramesOfMp3AndAc3) {
    const Log log;
    RtpTrackReader mp3({.kind = MediaKind::audio, .codec = Codec::mp3, .clock_rate = 90'000}, log);
    auto bytes = hex("00000000 fffb9000");
    bytes.resize(4 + 417);
    mp3.push({1, 0, true, bytes}, 0ms);
    const auto frame = mp3.poll();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->data.size(), 417U);
    EXPECT_FALSE(mp3.poll());
    RtpTrackReader ac3({.kind = MediaKind::audio, .codec = Codec::ac3, .clock_rate = 48'000}, log);
    bytes = hex("0001 0b77 0000 1e 40 00");
    bytes.resize(2 + 1'792);
    ac3.push({1, 0, true, bytes}, 0ms);
    EXPECT_EQ(ac3.poll()->codec, Codec::ac3);
}

}  // namespace
}  // namespace live::media
