#include "wire/codec/video/vp9.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

// Assembled bit by bit from the specification: 640x360 in each profile.
const struct {
    const char* name;
    std::vector<std::uint8_t> frame;
    int profile;
} kFrames[] = {
    {"profile 0", hex("824983420027f01670"), 0},      {"profile 1", hex("a24983420004fe02ce"), 1},
    {"profile 1, RGB", hex("a2498342e027f01670"), 1}, {"profile 2", hex("924983420013f80b38"), 2},
    {"profile 3", hex("b124c1a100013f80b380"), 3},
};

TEST(Vp9KeyFrame, HasItsFrameSize) {
    for (const auto& one : kFrames) {
        const auto info = parse_vp9_key_frame(one.frame);
        ASSERT_TRUE(info.ok()) << one.name << ": " << info.error().text();
        EXPECT_EQ(info->width, 640u) << one.name;
        EXPECT_EQ(info->height, 360u) << one.name;
        EXPECT_EQ(info->profile, one.profile) << one.name;
    }
}

TEST(Vp9KeyFrame, EveryTruncationNeedsMore) {
    for (const auto& one : kFrames)
        for (std::size_t size = 0; size + 1 < one.frame.size(); ++size)
            EXPECT_EQ(parse_vp9_key_frame(Bytes(one.frame).first(size)).code(), Errc::need_more) << one.name << " " << size;
}

TEST(Vp9KeyFrame, RefusesOtherFrames) {
    EXPECT_EQ(parse_vp9_key_frame(hex("86498342")).code(), Errc::not_found) << "an inter frame";
    EXPECT_EQ(parse_vp9_key_frame(hex("88")).code(), Errc::not_found) << "a frame shown once more";
    EXPECT_EQ(parse_vp9_key_frame(hex("42498342")).code(), Errc::malformed) << "the marker";
    EXPECT_EQ(parse_vp9_key_frame(hex("824983430027f01670")).code(), Errc::malformed) << "the sync code";
    EXPECT_EQ(parse_vp9_key_frame(hex("82498342e027f01670")).code(), Errc::malformed) << "RGB in profile 0";
    EXPECT_EQ(parse_vp9_key_frame(hex("b924c1a100013f80b380")).code(), Errc::malformed) << "profile 4";
}

}  // namespace
}  // namespace live::wire::codec
