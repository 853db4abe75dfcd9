#include "service/engines/media_feed.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::engines {
namespace {

class MediaFeedTest : public testing::Test {
protected:
    void config(MediaKind kind) {
        feed_.push(media::tag_packet(kind, kind == MediaKind::video, true, at_,
                                     kind == MediaKind::video ? media::avc_config_body() : media::aac_config_body()));
    }
    void video(bool key) {
        const auto head = key ? hex("17 01 000000") : hex("27 01 000000");
        feed_.push(media::tag_packet(MediaKind::video, key, false, at_, media::tag_body(head, hex("00000002 6501"))));
    }
    void audio() {
        feed_.push(media::tag_packet(MediaKind::audio, false, false, at_, media::tag_body(hex("af 01"), hex("2122"))));
    }
    // "v0 V0 a0 A40": configurations in small letters, with the times in milliseconds.
    std::string tags() {
        std::string text;
        const auto bytes = feed_.take();
        for (Bytes rest = bytes; !rest.empty();) {
            rest = rest.subspan(MUST(reader_.feed(rest)));
            auto tag = reader_.next();
            if (!tag)
                continue;
            const bool is_video = tag->header.type == wire::flv::TagType::video;
            const bool is_config = tag->body.bytes()[1] == 0;
            text += std::string(text.empty() ? "" : " ") + (is_video ? (is_config ? 'v' : 'V') : (is_config ? 'a' : 'A')) +
                    std::to_string(tag->header.timestamp_ms);
        }
        return text;
    }

    MediaFeed feed_;
    wire::flv::FlvReader reader_;
    MediaTime at_ = 5s;
};

TEST_F(MediaFeedTest, BeginsAtAKeyFrameWithTheConfigurations) {
    config(MediaKind::video);
    config(MediaKind::audio);
    video(false);
    audio();
    EXPECT_FALSE(feed_.has_begun());
    at_ += 40ms;
    video(true);
    EXPECT_TRUE(feed_.has_begun());
    at_ += 40ms;
    audio();
    video(false);
    EXPECT_EQ(tags(), "v0 a0 V0 A40 V40");
    EXPECT_EQ(*reader_.file_header(), (wire::flv::FileHeader{.has_audio = true, .has_video = true}));
}

TEST_F(MediaFeedTest, WaitsForAudioThatFollows) {
    config(MediaKind::video);
    video(true);
    at_ += 500ms;
    video(false);
    EXPECT_FALSE(feed_.has_begun());
    config(MediaKind::audio);
    at_ += 10ms;
    audio();
    EXPECT_TRUE(feed_.has_begun());
    EXPECT_EQ(tags(), "v0 a0 V0 V500 A510");
}

TEST_F(MediaFeedTest, BeginsWithoutAudioAfterASecond) {
    config(MediaKind::video);
    video(true);
    at_ += MediaFeed::kAudioWait;
    video(false);
    EXPECT_TRUE(feed_.has_begun());
    EXPECT_EQ(tags(), "v0 V0 V1000");
    EXPECT_EQ(*reader_.file_header(), (wire::flv::FileHeader{.has_audio = false, .has_video = true}));
    config(MediaKind::audio);
    EXPECT_TRUE(feed_.has_changed()) << "ffmpeg has chosen its inputs";
}

TEST_F(MediaFeedTest, BeginsWithoutVideoAfterTwoSeconds) {
    config(MediaKind::audio);
    audio();
    at_ += 1s;
    audio();
    EXPECT_FALSE(feed_.has_begun());
    at_ += 1s;
    audio();
    EXPECT_TRUE(feed_.has_begun());
    EXPECT_EQ(tags(), "a0 A0 A1000 A2000");
    EXPECT_EQ(*reader_.file_header(), (wire::flv::FileHeader{.has_audio = true, .has_video = false}));
}

TEST_F(MediaFeedTest, ANewConfigurationIsAnotherFormat) {
    config(MediaKind::video);
    config(MediaKind::audio);
    video(true);
    config(MediaKind::video);
    EXPECT_FALSE(feed_.has_changed()) << "the same one again";
    feed_.push(media::tag_packet(MediaKind::audio, false, true, at_, media::tag_body(hex("af 00 1190"))));
    EXPECT_TRUE(feed_.has_changed());
}

TEST_F(MediaFeedTest, TwentyDaysAreTheLimitOfTheTimes) {
    config(MediaKind::video);
    config(MediaKind::audio);
    video(true);
    at_ += MediaFeed::kAgeMax + 1ms;
    video(true);
    EXPECT_TRUE(feed_.has_changed());
}

TEST_F(MediaFeedTest, SkipsToAKeyFrame) {
    config(MediaKind::video);
    config(MediaKind::audio);
    video(true);
    EXPECT_EQ(tags(), "v0 a0 V0");
    feed_.skip_to_key();
    at_ += 40ms;
    video(false);
    audio();
    EXPECT_TRUE(feed_.skips());
    at_ += 40ms;
    video(true);
    EXPECT_FALSE(feed_.skips());
    audio();
    EXPECT_EQ(tags(), "V80 A80");
}

TEST_F(MediaFeedTest, HoldsABoundedBeginning) {
    config(MediaKind::audio);
    for (std::size_t i = 0; i < 3 * MediaFeed::kPendingMax; ++i)
        audio();  // at one time
    EXPECT_FALSE(feed_.has_begun());
    EXPECT_EQ(feed_.size(), 0U);
}

}  // namespace
}  // namespace live::service::engines
