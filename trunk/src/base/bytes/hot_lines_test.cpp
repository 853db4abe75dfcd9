#include "base/bytes/hot_lines.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

struct alignas(HotLines::kLineBytes) Block {
    std::array<std::uint8_t, 8 * HotLines::kLineBytes> bytes{};
};

TEST(HotLines, CountsTheLinesThatBytesLieIn) {
    const Block block;
    const auto lines = [&](std::size_t begin, std::size_t bytes) {
        HotLines made;
        made.add(block.bytes.data() + begin, bytes);
        made.fetch();
        return made.size();
    };
    EXPECT_EQ(lines(0, 0), 0U);
    EXPECT_EQ(lines(0, 1), 1U);
    EXPECT_EQ(lines(0, 64), 1U);
    EXPECT_EQ(lines(0, 65), 2U);
    EXPECT_EQ(lines(63, 1), 1U);
    EXPECT_EQ(lines(63, 2), 2U);
    EXPECT_EQ(lines(10, 320), 6U);
}

TEST(HotLines, CoversTheRangeBetweenMembers) {
    struct alignas(HotLines::kLineBytes) Three {
        int first = 0;
        std::array<std::uint8_t, 100> middle{};
        int last = 0;
    } const three;
    HotLines lines;
    lines.add_range(three.first, three.last);
    EXPECT_EQ(lines.size(), 2U);
    lines.clear();
    EXPECT_EQ(lines.size(), 0U);
}

TEST(HotLines, LimitsTheNumberOfLines) {
    const std::array<Block, HotLines::kMax> blocks;
    HotLines lines;
    lines.add(blocks.data(), sizeof blocks);
    EXPECT_EQ(lines.size(), HotLines::kMax);
    lines.add(blocks.data(), 1);
    EXPECT_EQ(lines.size(), HotLines::kMax);
    lines.fetch();
}

}  // namespace
}  // namespace live
