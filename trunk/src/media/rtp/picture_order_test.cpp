#include "media/rtp/picture_order.hpp"

#include <gtest/gtest.h>

namespace live::media {
namespace {

std::vector<std::int64_t> stamps(PictureOrder& order, const std::vector<std::int64_t>& shown_ms) {
    std::vector<std::int64_t> result;
    for (const std::int64_t ms : shown_ms)
        result.push_back(order.place(std::chrono::milliseconds(ms)) / 1ms);
    return result;
}

TEST(PictureOrder, LeavesTimesAloneWithoutReordering) {
    PictureOrder order;
    EXPECT_EQ(stamps(order, {0, 40, 80, 125, 160}), (std::vector<std::int64_t>{0, 40, 80, 125, 160}));
    EXPECT_EQ(order.depth(), 0U);
}

TEST(PictureOrder, DetectsFrameThatIsPresentedEarlier) {
    PictureOrder order;
    EXPECT_FALSE(order.is_reordered(-5s));
    order.place(160ms);
    EXPECT_TRUE(order.is_reordered(80ms));
    EXPECT_FALSE(order.is_reordered(160ms));
}

// I P B P B, presented at 0 160 80 320 240.
TEST(PictureOrder, IsEvenOnceTheDepthIsKnown) {
    PictureOrder order;
    stamps(order, {0, 160, 80, 320});
    EXPECT_EQ(order.depth(), 1U);
    EXPECT_EQ(stamps(order, {240, 480, 400, 640, 560}), (std::vector<std::int64_t>{240, 320, 400, 480, 560}));
}

// x264's pyramid of three: I P B b b, presented at 0 160 80 40 120.
TEST(PictureOrder, IsEvenForPyramids) {
    PictureOrder order;
    stamps(order, {0, 160, 80, 40, 120, 320, 240, 200, 280});
    EXPECT_EQ(order.depth(), 2U);
    EXPECT_EQ(stamps(order, {480, 400, 360, 440}), (std::vector<std::int64_t>{280, 320, 360, 400}));
}

TEST(PictureOrder, AlwaysRises) {
    PictureOrder order;
    std::int64_t last = -1'000'000;
    std::uint32_t seed = 1;
    for (int i = 0; i < 10'000; ++i) {
        seed = seed * 1'664'525 + 1'013'904'223;
        const auto stamp = order.place(std::chrono::milliseconds(i * 40 + static_cast<int>(seed >> 20)));
        EXPECT_GT(stamp.count(), last);
        last = stamp.count();
    }
    EXPECT_LE(order.depth(), PictureOrder::kDepthMax);
}

}  // namespace
}  // namespace live::media
