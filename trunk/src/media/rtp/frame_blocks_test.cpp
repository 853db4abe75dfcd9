#include "media/rtp/frame_blocks.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::media {
namespace {

std::vector<std::uint8_t> frame_of(std::size_t size, std::uint8_t value) { return std::vector<std::uint8_t>(size, value); }

TEST(FrameBlocks, ShortFramesShareBlocks) {
    FrameBlocks blocks;
    std::vector<Slice> kept;
    std::size_t memories = 0;
    for (std::uint8_t i = 0; i < 100; ++i) {
        auto [frame, shares] = blocks.copy_of(frame_of(1'000, i));
        EXPECT_TRUE(shares);
        EXPECT_LE(frame.memory_bytes(), FrameBlocks::kBlockBytes);
        memories += kept.empty() || kept.back().memory() != frame.memory() ? 1 : 0;
        kept.push_back(std::move(frame));
    }
    EXPECT_LE(memories, 100 / (FrameBlocks::kFramesInBlock - 1) + 1);
    for (std::uint8_t i = 0; i < 100; ++i)
        EXPECT_EQ(kept[i].bytes()[0] + kept[i].bytes()[999], 2 * i) << "no frame overwrites another";
}

TEST(FrameBlocks, LongFramesHaveTheirOwnMemory) {
    FrameBlocks blocks;
    const auto [longest, shares] = blocks.copy_of(frame_of(FrameBlocks::kBlockBytes / 2, 1));
    EXPECT_TRUE(shares);
    const auto [frame, shares_too] = blocks.copy_of(frame_of(FrameBlocks::kBlockBytes / 2 + 1, 2));
    EXPECT_FALSE(shares_too);
    EXPECT_EQ(frame.memory_bytes(), frame.size());
    EXPECT_EQ(blocks.copy_of({}).first.size(), 0U);
}

}  // namespace
}  // namespace live::media
