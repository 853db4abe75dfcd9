#include "service/stats/history.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"

namespace live::service::stats {
namespace {

using Points = std::map<Slot, int>;

Points points_of(const History<int>& history, std::optional<Slot> after = {}) {
    Points points;
    Slot last = 0;
    history.for_each(after, [&](Slot slot, int point) {
        EXPECT_TRUE(points.empty() || slot > last) << "the oldest is first";
        last = slot;
        points[slot] = point;
    });
    return points;
}

TEST(History, SlotsAreIntervalsOfTenSeconds) {
    EXPECT_EQ(slot_of(TimePoint(0s)), 0U);
    EXPECT_EQ(slot_of(TimePoint(9999ms)), 0U);
    EXPECT_EQ(slot_of(TimePoint(10s)), 1U);
    EXPECT_EQ(slot_of(start_of(123'456)), 123'456U);
}

TEST(History, HasOnePointForEachInterval) {
    History<int> history;
    EXPECT_TRUE(history.is_due(TimePoint(50s)));
    history.add(5, 1);
    EXPECT_FALSE(history.is_due(TimePoint(59s)));
    EXPECT_TRUE(history.is_due(TimePoint(60s)));
    history.add(5, 2);
    history.add(4, 3);
    EXPECT_EQ(points_of(history), (Points{{5, 1}}));
}

TEST(History, MemoryGrowsWithPointsUpToABound) {
    History<int> history;
    EXPECT_EQ(history.bytes(), 0U);
    history.add(0, 0);
    const std::size_t first = history.bytes();
    for (Slot slot = 1; slot < 10 * kHistoryPoints; ++slot)
        history.add(slot, 0);
    EXPECT_LT(first, history.bytes() / 10);
    EXPECT_EQ(history.bytes(), kHistoryPoints * 2 * sizeof(int));
    EXPECT_EQ(points_of(history).size(), kHistoryPoints);
}

// The model keeps every point that was accepted, and selects by slot.
TEST(History, MatchesANaiveModel) {
    std::mt19937 random(7);
    const auto below = [&random](unsigned bound) { return static_cast<Slot>(random() % bound); };
    for (std::size_t round = 0; round < rounds<std::size_t>(100, 2000); ++round) {
        History<int> history;
        Points model;
        Slot slot = below(1000);
        const unsigned jump = 1 + below(4) * below(200);
        for (unsigned step = below(1500); step > 0; --step) {
            slot += below(3) == 0 ? below(jump) : 1;
            const Slot asked = below(10) == 0 && slot > 5 ? slot - below(5) : slot;
            const int value = static_cast<int>(random());
            EXPECT_EQ(history.is_due(start_of(asked)), model.empty() || asked > model.rbegin()->first);
            history.add(asked, value);
            if (model.empty() || asked > model.rbegin()->first)
                model[asked] = value;
        }
        const auto expected = [&model](std::optional<Slot> after) {
            Points points = model;
            std::erase_if(points, [&](const auto& point) {
                return point.first + kHistoryPoints <= model.rbegin()->first || (after && point.first <= *after);
            });
            return points;
        };
        ASSERT_EQ(points_of(history), expected({})) << "round " << round;
        const Slot after = slot - std::min(slot, below(500));
        ASSERT_EQ(points_of(history, after), expected(after)) << "round " << round;
        EXPECT_LE(history.bytes(), kHistoryPoints * 2 * sizeof(int));
    }
}

}  // namespace
}  // namespace live::service::stats
