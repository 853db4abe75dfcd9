#include "bench/clips/flv_clip.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/amf/amf.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::bench {
namespace {

namespace flv = wire::flv;
using wire::rtmp::MessageType;

class ClipFile {
public:
    ClipFile() { flv::write_file_header(out_, {true, true}); }
    ClipFile& add(flv::TagType type, std::uint32_t time_ms, Bytes body) {
        flv::write_tag(out_, type, time_ms, body);
        return *this;
    }
    ClipFile& metadata() {
        ByteWriter body;
        wire::amf::write_amf0(body, "onMetaData");
        wire::amf::write_amf0(body, wire::amf::Value::ecma_array({{"duration", 60}, {"width", 640}, {"filesize", 9}}));
        return add(flv::TagType::script, 0, body.written());
    }
    Bytes bytes() const { return out_.written(); }

private:
    ByteWriter out_;
};

const auto kVideoConfig = hex("17 00 000000 0164001f ff e1");
const auto kKey = hex("17 01 000000 00000001 65");
const auto kInter = hex("27 01 000000 00000001 41");
const auto kAudioConfig = hex("af 00 1210");
const auto kAudio = hex("af 01 2100");

TEST(FlvClip, MessagesKeepTheirOrderAndStartAtZero) {
    const auto clip = parse_clip(ClipFile()
                                     .metadata()
                                     .add(flv::TagType::video, 0, kVideoConfig)
                                     .add(flv::TagType::audio, 0, kAudioConfig)
                                     .add(flv::TagType::video, 80, kKey)
                                     .add(flv::TagType::audio, 90, kAudio)
                                     .add(flv::TagType::video, 120, kInter)
                                     .bytes());
    ASSERT_TRUE(clip.ok()) << clip.error().text();
    ASSERT_EQ(clip->messages.size(), 6U);
    EXPECT_TRUE(clip->messages[0].is_setup && clip->messages[1].is_setup && clip->messages[2].is_setup);
    EXPECT_EQ(clip->messages[3].time_ms, 0U);
    EXPECT_EQ(clip->messages[4].time_ms, 10U);
    EXPECT_EQ(clip->messages[5].time_ms, 40U);
    // The next round's first frame is one step after the last.
    EXPECT_EQ(clip->round_ms, 80U);
    EXPECT_EQ(clip->media_bytes, kKey.size() + kInter.size() + kAudio.size());
    EXPECT_TRUE(clip->takes_video_stamps);
}

TEST(FlvClip, MetadataIsSetAndDoesNotEnd) {
    const auto clip = parse_clip(ClipFile().metadata().add(flv::TagType::audio, 0, kAudio).bytes());
    ASSERT_TRUE(clip.ok());
    EXPECT_EQ(clip->messages[0].type, MessageType::amf0_data);
    ByteReader in(clip->messages[0].body.bytes());
    EXPECT_EQ(wire::amf::read_amf0(in)->string(), "@setDataFrame");
    EXPECT_EQ(wire::amf::read_amf0(in)->string(), "onMetaData");
    const auto values = wire::amf::read_amf0(in);
    EXPECT_EQ(values->find("duration")->number(), -1);
    EXPECT_EQ(values->find("width")->number(), 640);
    EXPECT_EQ(values->find("filesize"), nullptr);
}

TEST(FlvClip, AudioAloneIsEnoughAndTakesNoVideoTimestamps) {
    const auto clip = parse_clip(ClipFile().add(flv::TagType::audio, 5, kAudio).bytes());
    ASSERT_TRUE(clip.ok());
    EXPECT_FALSE(clip->takes_video_stamps);
    EXPECT_EQ(clip->round_ms, 40U);
}

TEST(FlvClip, WithoutMediaItIsRefused) {
    EXPECT_EQ(parse_clip(ClipFile().metadata().add(flv::TagType::video, 0, kVideoConfig).bytes()).code(), Errc::malformed);
    EXPECT_FALSE(parse_clip(as_bytes("this is no FLV file at all")).ok());
    EXPECT_FALSE(parse_clip({}).ok());
}

}  // namespace
}  // namespace live::bench
