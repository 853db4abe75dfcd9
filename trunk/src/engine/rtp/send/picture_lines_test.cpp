#include "engine/rtp/send/picture_lines.hpp"

#include <gtest/gtest.h>

namespace live::engine::rtp {
namespace {

// A VP8 packet with a 15-bit picture ID and TL0PICIDX.
std::vector<std::uint8_t> vp8_picture(unsigned id, std::uint8_t tl0) {
    return {0x90, 0xE0, static_cast<std::uint8_t>(0x80U | id >> 8), static_cast<std::uint8_t>(id), tl0, 0x20, 0x9D};
}

TEST(PictureLines, ContinueAcrossLayersAndFindOldOnesAgain) {
    PictureLines lines;
    lines.set_codec("VP8");
    const auto send = [&](unsigned id, std::uint8_t tl0) {
        auto payload = vp8_picture(id, tl0);
        lines.rewrite_first(payload);
        return payload;
    };
    const auto again = [&](std::uint8_t layer, std::uint32_t timestamp, unsigned id, std::uint8_t tl0) {
        auto payload = vp8_picture(id, tl0);
        lines.rewrite_again(layer, timestamp, payload);
        return payload;
    };
    lines.begin(1, 1'000);
    EXPECT_EQ(send(0x7FFE, 254), vp8_picture(0x7FFE, 254)) << "the first layer stays as it is";
    EXPECT_EQ(send(0x7FFF, 255), vp8_picture(0x7FFF, 255));
    lines.begin(2, 3'000);
    EXPECT_EQ(send(77, 9), vp8_picture(0, 0)) << "both counters turn";
    EXPECT_EQ(send(77, 9), vp8_picture(0, 0)) << "another packet of the same frame";
    EXPECT_EQ(send(78, 10), vp8_picture(1, 1));
    lines.begin(1, 6'000);
    EXPECT_EQ(send(5, 20), vp8_picture(2, 2));
    EXPECT_EQ(again(1, 6'000, 5, 20), vp8_picture(2, 2));
    EXPECT_EQ(again(2, 3'600, 78, 10), vp8_picture(1, 1));
    EXPECT_EQ(again(1, 2'000, 0x7FFF, 255), vp8_picture(0x7FFF, 255)) << "from its time in the first layer";
}

TEST(PictureLines, LeaveOtherPayloadsAlone) {
    PictureLines lines;
    std::vector<std::uint8_t> payload = {0x65, 0x88, 0x80};
    const auto before = payload;
    lines.set_codec("H264");
    EXPECT_FALSE(lines.has_codec());
    lines.begin(1, 0);
    lines.rewrite_first(payload);
    lines.rewrite_again(1, 0, payload);
    EXPECT_EQ(payload, before);
    lines.set_codec("vp8");
    lines.rewrite_first({});
    for (std::size_t i = 0; i < 2 * PictureLines::kLinesMax; ++i)
        lines.begin(1, static_cast<std::uint32_t>(i));
    auto old = vp8_picture(1, 1);
    lines.rewrite_again(2, 0, old);
    EXPECT_EQ(old, vp8_picture(1, 1)) << "of a layer that is not remembered";
}

}  // namespace
}  // namespace live::engine::rtp
