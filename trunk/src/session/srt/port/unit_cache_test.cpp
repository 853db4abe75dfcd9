#include "session/srt/port/unit_cache.hpp"

#include <gtest/gtest.h>

namespace live::session::srt {
namespace {

TEST(UnitCache, ReturnsTheSameMemoryForTheSamePosition) {
    UnitCache cache;
    EXPECT_EQ(cache.find(0, 0, 1'316), nullptr) << "an empty place";
    EXPECT_EQ(cache.find(1, 188, 1'316), nullptr);
    const Slice unit = Slice::allocate(1'316);
    cache.put(1, 188, unit);
    ASSERT_NE(cache.find(1, 188, 1'316), nullptr);
    EXPECT_EQ(cache.find(1, 188, 1'316)->memory(), unit.memory());
    EXPECT_EQ(cache.find(1, 188, 1'315), nullptr) << "it is longer";
    EXPECT_NE(cache.find(1, 188, 1'456), nullptr);
    EXPECT_EQ(cache.find(1, 376, 1'316), nullptr);
    EXPECT_EQ(cache.find(2, 188, 1'316), nullptr) << "of another log";
    EXPECT_EQ(cache.held_bytes(), 1'316U);
}

TEST(UnitCache, KeepsTheNewestPositions) {
    UnitCache cache;
    for (std::uint64_t i = 0; i < 2 * UnitCache::kUnits; ++i)
        cache.put(1, i * 188, Slice::allocate(188));
    EXPECT_EQ(cache.held_bytes(), UnitCache::kUnits * 188);
    EXPECT_EQ(cache.find(1, 0, 188), nullptr);
    EXPECT_NE(cache.find(1, (2 * UnitCache::kUnits - 1) * 188, 188), nullptr);
}

TEST(UnitCache, RoundEndsAtTheEndSeenByTheFirstCall) {
    UnitCache units;
    EXPECT_EQ(units.end_of_round(1, 1'880), 1'880U);
    EXPECT_EQ(units.end_of_round(1, 3'760), 1'880U) << "more came while others were served";
    EXPECT_EQ(units.end_of_round(2, 376), 376U) << "another log";
    units.begin_round();
    EXPECT_EQ(units.end_of_round(2, 564), 564U);
}

}  // namespace
}  // namespace live::session::srt
