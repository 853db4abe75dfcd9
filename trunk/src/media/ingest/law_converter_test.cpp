#include "media/ingest/law_converter.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"

namespace live::media {
namespace {

using wire::codec::Codec;
using wire::codec::Content;
using wire::codec::Frame;

const TimePoint kNow{1h};

Frame law(Codec codec, std::string_view text, MediaTime dts = 1s) {
    return {.codec = codec, .dts = dts, .data = Slice::copy_of(hex(text))};
}

class LawConversion : public testing::Test {
protected:
    std::vector<Frame> drain() {
        std::vector<Frame> frames;
        while (auto frame = converter.next())
            frames.push_back(*std::move(frame));
        return frames;
    }

    bridge_test::EchoTranscoders transcoders;
    bridge_test::NoListener listener;
    Log log;
    LawConverter converter{&transcoders, {}, listener, log};
};

TEST_F(LawConversion, TheConfigurationPrecedesTheFirstFrame) {
    EXPECT_TRUE(converter.push(law(Codec::g711a, "d5d5"), kNow));
    EXPECT_TRUE(converter.push(law(Codec::g711a, "d4d4", 1040ms), kNow));
    const auto frames = drain();
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[0].content, Content::config);
    EXPECT_TRUE(std::ranges::equal(frames[0].data.bytes(), hex("1190")));
    EXPECT_EQ(frames[1].codec, Codec::aac);
    EXPECT_EQ(frames[1].dts, 1s);
    EXPECT_EQ(frames[2].dts, 1040ms);
    EXPECT_TRUE(converter.push(law(Codec::g711a, "d5d5", 1080ms), kNow));
    EXPECT_EQ(drain().size(), 1u);
    ASSERT_EQ(transcoders.made.size(), 1u);
    EXPECT_EQ(transcoders.made[0].to, Codec::aac);
}

TEST_F(LawConversion, AnotherLawStartsOver) {
    EXPECT_TRUE(converter.push(law(Codec::g711a, "d5"), kNow));
    EXPECT_EQ(drain().size(), 2u);
    EXPECT_TRUE(converter.push(law(Codec::g711u, "ff7f"), kNow));
    EXPECT_EQ(transcoders.made.size(), 2u);
    EXPECT_EQ(transcoders.made[1].from, Codec::g711u);
}

TEST_F(LawConversion, WithoutATranscoderTheFrameStaysAsItIs) {
    transcoders.refused = Codec::g711a;
    EXPECT_FALSE(converter.push(law(Codec::g711a, "d5"), kNow));
    EXPECT_FALSE(converter.push(law(Codec::g711a, "d5"), kNow));
    EXPECT_EQ(transcoders.made.size(), 1u) << "tried once";
    LawConverter none(nullptr, {}, listener, log);
    EXPECT_FALSE(none.push(law(Codec::g711a, "d5"), kNow));
    EXPECT_FALSE(none.next());
}

TEST_F(LawConversion, ErrorsCostTheirFrame) {
    EXPECT_TRUE(converter.push(law(Codec::g711a, "ee"), kNow));
    EXPECT_TRUE(converter.push(law(Codec::g711a, "ff"), kNow)) << "full";
    EXPECT_TRUE(drain().empty());
    EXPECT_EQ(transcoders.left_out(), 1u);
    EXPECT_TRUE(converter.push(law(Codec::g711a, "d5"), kNow));
    EXPECT_EQ(drain().size(), 2u);
}

TEST_F(LawConversion, AudioThatComesMuchTooFastIsDropped) {
    for (int i = 0; i < 2'000; ++i) {
        Frame frame{.codec = Codec::g711a, .dts = i * 40ms, .data = Slice::copy_of(std::vector<std::uint8_t>(320, 0xD5))};
        EXPECT_TRUE(converter.push(frame, kNow));
    }
    EXPECT_GT(transcoders.too_fast(), 1'000u);
    EXPECT_EQ(drain().size() + transcoders.too_fast(), 2'001u);
}

}  // namespace
}  // namespace live::media
