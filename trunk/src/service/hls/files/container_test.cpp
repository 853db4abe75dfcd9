#include "service/hls/files/container.hpp"

#include <gtest/gtest.h>

#include "service/segments/segmenter_fixture.hpp"

namespace live::service::hls {
namespace {

using segments::aac_config;
using segments::av1_config;
using segments::avc_config;
using segments::config_packet;
using segments::hevc_config;
using segments::opus_config;
using segments::video_packet;

Container needed_by(std::initializer_list<media::Packet> packets) {
    CodecWatch watch;
    for (const media::Packet& packet : packets)
        watch.note(packet);
    return watch.needs();
}

TEST(HlsContainer, IsMpegTsForCodecsOfEveryPlayer) {
    EXPECT_EQ(CodecWatch().needs(), Container::ts) << "there is no date yet";
    EXPECT_EQ(needed_by({config_packet(MediaKind::video, avc_config()), config_packet(MediaKind::audio, aac_config())}),
              Container::ts);
    EXPECT_EQ(needed_by({config_packet(MediaKind::video, hevc_config())}), Container::ts);
    const Slice mp3 = Slice::copy_of(hex("2f fffb90640000"));
    EXPECT_EQ(needed_by({media::tag_packet(MediaKind::audio, false, false, 0s, mp3)}), Container::ts)
        << "MP3 has no configuration";
    EXPECT_EQ(needed_by({config_packet(MediaKind::data, Slice::copy_of(hex("02 000a")))}), Container::ts);
}

TEST(HlsContainer, IsFmp4ForCodecsOutsideMpegTs) {
    EXPECT_EQ(needed_by({config_packet(MediaKind::video, av1_config())}), Container::fmp4);
    EXPECT_EQ(needed_by({config_packet(MediaKind::video, Slice::copy_of(hex("90 76703039 01000000 00 0a 82020200 0000")))}),
              Container::fmp4);
    EXPECT_EQ(needed_by({config_packet(MediaKind::video, avc_config()), config_packet(MediaKind::audio, opus_config())}),
              Container::fmp4);
    EXPECT_EQ(needed_by({config_packet(MediaKind::audio, Slice::copy_of(hex("90 664c6143")))}), Container::fmp4);
}

TEST(HlsContainer, IsMpegTsForUnsupportedCodecs) {
    CodecWatch watch;
    EXPECT_TRUE(watch.note(media::tag_packet(MediaKind::video, true, false, 0s, Slice::copy_of(hex("14 00 00")))));
    EXPECT_EQ(watch.needs(), Container::ts);
    EXPECT_EQ(watch.left_out(MediaKind::video, Container::ts), "VP6");
    EXPECT_EQ(watch.left_out(MediaKind::video, Container::fmp4), "VP6");
    EXPECT_EQ(watch.left_out(MediaKind::audio, Container::ts), "") << "there is no audio";
}

TEST(HlsContainer, ReportsAnotherCodec) {
    CodecWatch watch;
    EXPECT_TRUE(watch.note(config_packet(MediaKind::video, avc_config())));
    EXPECT_FALSE(watch.note(config_packet(MediaKind::video, avc_config(1))));
    EXPECT_FALSE(watch.note(video_packet(0s, true)));
    EXPECT_FALSE(watch.note(config_packet(MediaKind::video, Slice())));
    EXPECT_TRUE(watch.note(config_packet(MediaKind::video, av1_config())));
    EXPECT_EQ(watch.left_out(MediaKind::video, Container::ts), "AV1");
    EXPECT_EQ(watch.left_out(MediaKind::video, Container::fmp4), "");
    EXPECT_TRUE(watch.note(config_packet(MediaKind::video, avc_config())));
    EXPECT_EQ(watch.needs(), Container::ts);
}

}  // namespace
}  // namespace live::service::hls
