#include "service/ladder/child_output.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/ring/tag_packet.hpp"
#include "service/ladder/child_feed.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::ladder {
namespace {

using media::Packet;
using wire::codec::Frame;

// `version` selects another format.
Slice avc_config(std::uint8_t version = 0) {
    std::vector<std::uint8_t> record = wire::codec::avc_vectors().front().record;
    record.back() = static_cast<std::uint8_t>(record.back() + version);
    return media::tag_body(hex("17 00 000000"), record);
}

Slice picture(bool key, std::uint8_t composition_ms = 0) {
    auto head = key ? hex("17 01 000000") : hex("27 01 000000");
    head[4] = composition_ms;
    return media::tag_body(head, hex("00000002 6501"));
}

Packet packet_of(Slice body, MediaTime dts) {
    auto tagged = MUST(media::read_tag(MediaKind::video, std::move(body)));
    tagged.packet.dts = dts;
    return tagged.packet;
}

// Frames of a child: its tags, at its own times.
void add_tag(ByteWriter& out, std::uint32_t time_ms, const Slice& body) {
    wire::flv::write_tag(out, wire::flv::TagType::video, time_ms, body.bytes());
}

std::vector<Frame> read_all(ChildOutput& output, Bytes bytes, std::size_t step) {
    std::vector<Frame> frames;
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(step, bytes.size())))
        MUST(output.read(bytes.first(std::min(step, bytes.size())), frames));
    return frames;
}

TEST(LadderChild, GetsAKeyFrameWithItsConfigurationAtTimeZero) {
    KeyTimes keys;
    const Packet begin = packet_of(picture(true, 80), 5'000'400us);
    ChildFeed feed(packet_of(avc_config(), {}), begin, keys);
    ByteWriter out;
    feed.write(packet_of(picture(false), 5'010ms), out);
    EXPECT_EQ(out.size(), 0U) << "not before the key frame";
    feed.write(begin, out);
    feed.write(packet_of(picture(false), 5'040ms), out);
    wire::flv::FlvReader reader;
    std::vector<std::pair<std::uint32_t, bool>> tags;
    for (Bytes bytes = out.written(); !bytes.empty();) {
        bytes = bytes.subspan(MUST(reader.feed(bytes)));
        if (const auto tag = reader.next())
            tags.emplace_back(tag->header.timestamp_ms, MUST(media::read_tag(MediaKind::video, tag->body)).packet.key);
    }
    EXPECT_EQ(tags, (std::vector<std::pair<std::uint32_t, bool>>{{0, false}, {0, true}, {40, false}}));
    EXPECT_TRUE(MUST(reader.feed({})) == 0 && reader.file_header()->has_video && !reader.file_header()->has_audio);
    ASSERT_TRUE(keys.find(80).has_value());
    EXPECT_EQ(keys.find(80)->dts, 5'000'400us);
    EXPECT_EQ(keys.find(80)->pts, 5'080'400us);
}

TEST(LadderChild, AnotherFormatIsNoticed) {
    KeyTimes keys;
    const ChildFeed feed(packet_of(avc_config(), {}), packet_of(picture(true), {}), keys);
    EXPECT_FALSE(feed.changes_format(packet_of(avc_config(), 1s)));
    EXPECT_TRUE(feed.changes_format(packet_of(avc_config(1), 1s)));
    EXPECT_FALSE(feed.changes_format(packet_of(picture(true), 1s)));
}

// The source has B-frames, so that its key frame is decoded 80 ms before it is shown; the child has none.
TEST(LadderChild, KeyFramesHaveTheTimesOfTheSource) {
    KeyTimes keys;
    keys.add({80, 5'000'400us, 5'080'400us});
    keys.add({2'080, 7'000'700us, 7'080'700us});
    ByteWriter out;
    wire::flv::write_file_header(out, {.has_video = true});
    add_tag(out, 0, avc_config());
    add_tag(out, 80, picture(true));
    add_tag(out, 120, picture(false));
    add_tag(out, 2'081, picture(true));  // rounded by the encoder
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, out.size()}) {
        ChildOutput output(5'000ms, keys);
        const auto frames = read_all(output, out.written(), step);
        ASSERT_EQ(frames.size(), 4U);
        EXPECT_EQ(frames[0].content, wire::codec::Content::config);
        EXPECT_TRUE(frames[1].key);
        EXPECT_EQ(frames[1].dts, 5'000'400us);
        EXPECT_EQ(frames[1].cts, 80ms);
        EXPECT_EQ(frames[2].dts, 5'040'400us);
        EXPECT_EQ(frames[2].dts + frames[2].cts, 5'120ms);
        EXPECT_EQ(frames[3].dts, 7'000'700us);
        EXPECT_EQ(frames[3].dts + frames[3].cts, 7'080'700us);
        EXPECT_EQ(output.extra_keys(), 0U);
    }
}

TEST(LadderChild, DecodingTimesNeverDecrease) {
    KeyTimes keys;
    keys.add({0, 1'000ms, 1'000ms});
    keys.add({100, 1'020ms, 1'100ms});
    ByteWriter out;
    wire::flv::write_file_header(out, {.has_video = true});
    add_tag(out, 0, picture(true));
    add_tag(out, 60, picture(false));
    add_tag(out, 100, picture(true));
    add_tag(out, 200, picture(true));  // none of the source's
    ChildOutput output(1'000ms, keys);
    const auto frames = read_all(output, out.written(), 1'000);
    ASSERT_EQ(frames.size(), 4U);
    EXPECT_EQ(frames[2].dts, 1'060ms);
    EXPECT_EQ(frames[2].dts + frames[2].cts, 1'100ms);
    EXPECT_EQ(frames[3].dts, 1'120ms);
    EXPECT_EQ(output.extra_keys(), 1U);
}

TEST(LadderChild, OutputThatIsNoFlvIsAnError) {
    KeyTimes keys;
    ChildOutput output({}, keys);
    std::vector<Frame> frames;
    EXPECT_EQ(output.read(as_bytes("y\ny\ny\ny\ny\ny\ny\ny\n"), frames).code(), Errc::malformed);
}

TEST(LadderChild, KeyTimesAreBounded) {
    KeyTimes keys;
    for (std::size_t i = 0; i <= KeyTimes::kMax; ++i)
        keys.add({static_cast<std::int64_t>(10 * i), {}, {}});
    EXPECT_FALSE(keys.find(0).has_value());
    EXPECT_TRUE(keys.find(10).has_value());
    EXPECT_TRUE(keys.find(11).has_value());
    EXPECT_FALSE(keys.find(12).has_value());
}

}  // namespace
}  // namespace live::service::ladder
