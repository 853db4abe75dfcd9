#include "wire/rtsp/description.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/rtsp/rtsp_vectors.hpp"

namespace live::wire::rtsp {
namespace {

using codec::Codec;

Description described(std::string_view text) {
    auto description = parse_description(text);
    EXPECT_TRUE(description.ok()) << text;
    return description.ok() ? *std::move(description) : Description{};
}

TEST(RtspDescription, ReadsAnAnnouncement) {
    const Description description = described(kAnnounceBody);
    ASSERT_EQ(description.media.size(), 2U);
    const Media& video = description.media[0];
    EXPECT_EQ(video.kind, MediaKind::video);
    EXPECT_EQ(video.codec, Codec::avc);
    EXPECT_EQ(video.payload_type, 96);
    EXPECT_EQ(video.clock_rate, 90'000U);
    EXPECT_EQ(video.control, "streamid=0");
    ASSERT_EQ(video.parameter_sets.size(), 2U);
    EXPECT_EQ(video.parameter_sets[0].front(), 0x67);
    EXPECT_EQ(video.parameter_sets[1], hex("68cb8cb2"));
    const Media& audio = description.media[1];
    EXPECT_EQ(audio.codec, Codec::aac);
    EXPECT_EQ(audio.clock_rate, 44'100U);
    EXPECT_EQ(audio.channels, 2);
    EXPECT_EQ(audio.config, hex("121056e500"));
    EXPECT_EQ(audio.packing, AacPacking());
}

TEST(RtspDescription, ReadsWhatCamerasWrite) {
    const Description description = described(kCameraDescription);
    EXPECT_EQ(description.control, "rtsp://192.0.2.7:554/ch1/");
    ASSERT_EQ(description.media.size(), 3U);
    EXPECT_EQ(description.media[0].codec, Codec::hevc);
    EXPECT_EQ(description.media[0].parameter_sets.size(), 3U);
    EXPECT_EQ(description.media[1].codec, Codec::g711a);
    EXPECT_EQ(description.media[1].clock_rate, 8'000U);
    EXPECT_EQ(description.media[2].kind, MediaKind::data);
    EXPECT_EQ(description.media[2].codec, Codec::rtp_data);
}

TEST(RtspDescription, SurvivesEveryTruncation) {
    for (const std::string_view text : {kAnnounceBody, kCameraDescription})
        for (std::size_t size = 0; size < text.size(); ++size) {
            const auto description = parse_description(text.substr(0, size));
            EXPECT_TRUE(description.ok() || description.code() == Errc::malformed);
        }
}

TEST(RtspDescription, HasBounds) {
    std::string text;
    for (std::size_t i = 0; i < kMediaMax; ++i)
        text += "m=video 0 RTP/AVP 96\n";
    EXPECT_EQ(described(text).media.size(), kMediaMax);
    EXPECT_EQ(parse_description(text + "m=video 0 RTP/AVP 96\n").code(), Errc::limit);
    std::string sets = "m=video 0 RTP/AVP 96\na=fmtp:96 sprop-parameter-sets=Zg==";
    for (std::size_t i = 0; i < kParameterSetsMax + 3; ++i)
        sets += ",Zg==";
    EXPECT_EQ(described(sets).media[0].parameter_sets.size(), kParameterSetsMax);
    EXPECT_TRUE(described("m=a\na=control:" + std::string(kControlBytesMax + 1, 'a')).media[0].control.empty());
}

TEST(RtspDescription, WritesTracksThatItReads) {
    const std::vector<std::uint8_t> avc = codec::avc_vectors()[0].record;
    const std::vector<std::uint8_t> aac = hex("1210");
    const std::array tracks = {TrackToDescribe{MediaKind::video, Codec::avc, 96, 90'000, 1, avc},
                               TrackToDescribe{MediaKind::audio, Codec::aac, 97, 44'100, 2, aac}};
    const auto text = write_description("live/cam", tracks);
    ASSERT_TRUE(text.ok());
    const Description description = described(*text);
    ASSERT_EQ(description.media.size(), 2U);
    EXPECT_EQ(description.control, "*");
    const auto config = codec::parse_avc_config(avc);
    const Media& video = description.media[0];
    EXPECT_EQ(video.codec, Codec::avc);
    ASSERT_EQ(video.parameter_sets.size(), 2U);
    EXPECT_TRUE(std::ranges::equal(video.parameter_sets[0], config->sps[0]));
    EXPECT_TRUE(std::ranges::equal(video.parameter_sets[1], config->pps[0]));
    EXPECT_EQ(track_of_control(video.control), 0U);
    const Media& audio = description.media[1];
    EXPECT_EQ(audio.codec, Codec::aac);
    EXPECT_EQ(audio.config, aac);
    EXPECT_EQ(audio.clock_rate, 44'100U);
    EXPECT_EQ(audio.channels, 2);
    EXPECT_EQ(track_of_control(audio.control), 1U);
}

TEST(RtspDescription, WritesEveryCodecThatItReads) {
    for (const Codec codec : {Codec::av1, Codec::vp8, Codec::vp9, Codec::opus, Codec::g711a, Codec::g711u, Codec::mp3}) {
        const std::array tracks = {TrackToDescribe{MediaKind::audio, codec, 97, 8'000, 1, {}}};
        EXPECT_EQ(described(*write_description("s", tracks)).media[0].codec, codec);
    }
}

TEST(RtspDescription, RefusesAConfigurationThatCannotBeParsed) {
    const std::array tracks = {TrackToDescribe{MediaKind::video, Codec::avc, 96, 90'000, 1, {}}};
    EXPECT_FALSE(write_description("s", tracks).ok());
}

TEST(RtspDescription, FindsTheTrackOfAControl) {
    EXPECT_EQ(track_of_control("rtsp://h/live/cam/trackID=1"), 1U);
    EXPECT_EQ(track_of_control("rtsp://h/live/cam?token=a/trackID=12"), 12U);
    EXPECT_EQ(track_of_control("streamid=0"), 0U);
    EXPECT_EQ(track_of_control("rtsp://h/cam/track2"), 2U);
    EXPECT_EQ(track_of_control("rtsp://h/live/cam"), std::nullopt);
    EXPECT_EQ(track_of_control("trackID=99999999999999999999"), std::nullopt);
}

TEST(RtspDescription, ReadsLatmAndAc3) {
    const auto read = parse_description(
        "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MP4A-LATM/44100/2\r\na=fmtp:97 profile-level-id=2;cpresent=0;config=400024203fc0\r\n"
        "m=audio 0 RTP/AVP 98\r\na=rtpmap:98 AC3/48000/6\r\n");
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read->media[0].is_latm);
    EXPECT_EQ(read->media[0].codec, codec::Codec::aac);
    EXPECT_EQ(read->media[0].config.size(), 6U);
    EXPECT_EQ(read->media[1].codec, codec::Codec::ac3);
    EXPECT_FALSE(read->media[1].is_latm);
    const std::array tracks = {TrackToDescribe{MediaKind::audio, codec::Codec::ac3, 97, 48'000, 1, {}}};
    EXPECT_NE(write_description("Play", tracks)->find("a=rtpmap:97 ac3/48000\r\n"), std::string::npos);
}

TEST(RtspDescription, KeepsTheFormatOfData) {
    const auto parsed = parse_description(
        "m=application 0 RTP/AVP 107\r\na=rtpmap:107 vnd.onvif.metadata/90000\r\na=fmtp:107 x=1; y=2\r\n"
        "m=application 0 RTP/AVP 108\r\na=rtpmap:108 smpte336m/1000\r\n"
        "m=application 0 RTP/AVP 109\r\n"
        "m=application 0 RTP/AVP 110\r\na=rtpmap:110 a\tb/1000\r\n");
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->media[0].codec, codec::Codec::rtp_data);
    EXPECT_EQ(as_text(parsed->media[0].config), "vnd.onvif.metadata/90000\nx=1; y=2");
    EXPECT_EQ(as_text(parsed->media[1].config), "smpte336m/1000");
    EXPECT_EQ(data_clock_rate_of(parsed->media[1].config), 1'000U);
    EXPECT_EQ(parsed->media[2].codec, codec::Codec::none) << "without a name";
    EXPECT_EQ(parsed->media[3].codec, codec::Codec::none) << "a letter that would break a line elsewhere";
    std::vector<TrackToDescribe> tracks;
    for (std::size_t i = 0; i < 2; ++i)
        tracks.push_back({MediaKind::data, codec::Codec::rtp_data, static_cast<std::uint8_t>(98 + i), parsed->media[i].clock_rate,
                          1, parsed->media[i].config});
    const auto text = write_description("Play", tracks);
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text->find("m=application 0 RTP/AVP 98\r\na=rtpmap:98 vnd.onvif.metadata/90000\r\na=fmtp:98 x=1; y=2\r\n"
                         "a=control:trackID=0\r\nm=application 0 RTP/AVP 99\r\na=rtpmap:99 smpte336m/1000\r\na=control:"),
              std::string::npos)
        << *text;
    const auto again = parse_description(*text);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->media[0].config, parsed->media[0].config);
    const std::string long_format(kDataFormatBytesMax, 'f');
    EXPECT_EQ(parse_description("m=application 0 RTP/AVP 96\r\na=rtpmap:96 x/1\r\na=fmtp:96 " + long_format)->media[0].codec,
              codec::Codec::none);
}

}  // namespace
}  // namespace live::wire::rtsp
