#include "session/srt/port/link_ticks.hpp"

#include <gtest/gtest.h>

#include "session/common/read_tick.hpp"

namespace live::session::srt {
namespace {

TEST(LinkTicks, ChoosesTheLongestTickThatAConnectionCanWaitFor) {
    EXPECT_EQ(LinkTicks::index_for({}), 0U);
    EXPECT_EQ(LinkTicks::index_for(3'999us), 0U);
    for (LinkTicks::Index index = 1; index < LinkTicks::kTicks.size(); ++index) {
        EXPECT_EQ(LinkTicks::index_for(LinkTicks::kTicks[index]), index);
        EXPECT_EQ(LinkTicks::index_for(LinkTicks::kTicks[index] - 1us), index - 1);
    }
    EXPECT_EQ(LinkTicks::index_for(1h), LinkTicks::kTicks.size() - 1);
}

TEST(LinkTicks, AllTicksCoincideWithTheLongest) {
    const TimePoint longest = ReadTick::after(TimePoint(12'345'678us), LinkTicks::kTicks.back());
    for (LinkTicks::Index index = 1; index < LinkTicks::kTicks.size(); ++index)
        EXPECT_EQ(ReadTick::after(longest - 1us, LinkTicks::kTicks[index]), longest);
}

TEST(LinkTicks, TheMostUrgentConnectionDecides) {
    LinkTicks ticks;
    EXPECT_EQ(ticks.shortest(), Duration());
    ticks.add(4);
    ticks.add(3);
    ticks.add(3);
    EXPECT_EQ(ticks.shortest(), 20ms);
    ticks.add(0);
    EXPECT_EQ(ticks.shortest(), Duration());
    ticks.remove(0);
    ticks.remove(3);
    EXPECT_EQ(ticks.shortest(), 20ms);
    ticks.remove(3);
    EXPECT_EQ(ticks.shortest(), 40ms);
}

}  // namespace
}  // namespace live::session::srt
