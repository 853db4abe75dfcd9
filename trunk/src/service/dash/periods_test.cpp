#include "service/dash/periods.hpp"

#include <gtest/gtest.h>

namespace live::service::dash {
namespace {

TEST(Periods, NumbersHeadersByTheirHash) {
    Periods periods;
    EXPECT_EQ(periods.number_of(7), 0U);
    periods.begin({}, 0, 7);
    EXPECT_EQ(periods.current().start, MediaTime{});
    EXPECT_EQ(periods.number_of(7), 0U);
    EXPECT_EQ(periods.number_of(8), 1U);
    periods.begin({}, 1, 8);
    EXPECT_FALSE(periods.current().start);
    periods.note_start(1'500'999us);
    periods.note_start(9s);
    EXPECT_EQ(periods.current().start, MediaTime(1'500ms)) << "of the first segment, in whole milliseconds";
    EXPECT_EQ(periods.place().inits, 2U);
    EXPECT_EQ(periods.place().hash, 8U);
    EXPECT_EQ(periods.place().start, MediaTime(1'500ms));
}

TEST(Periods, ContinuesTheNewestPeriodOfAnotherNode) {
    Periods periods;
    periods.resume({3, 9, 4s});
    EXPECT_EQ(periods.number_of(9), 2U);
    periods.begin({}, 2, 9);
    EXPECT_EQ(periods.current().start, MediaTime(4s));
    periods.begin({}, periods.number_of(10), 10);
    EXPECT_EQ(periods.current().number, 3U);
    EXPECT_FALSE(periods.current().start);
}

TEST(Periods, KeepsTheCurrentPeriod) {
    Periods periods;
    for (std::uint64_t number = 0; number < 4; ++number)
        periods.begin({}, number, number + 1);
    EXPECT_TRUE(periods.reaches(3));
    EXPECT_FALSE(periods.reaches(4));
    periods.drop_before(2);
    EXPECT_EQ(periods.all().size(), 2U);
    periods.drop_before(9);
    EXPECT_EQ(periods.current().number, 3U);
    periods.drop_earlier();
    EXPECT_EQ(periods.all().size(), 1U);
}

}  // namespace
}  // namespace live::service::dash
