#include "service/hls/program_dates.hpp"

#include <gtest/gtest.h>

namespace live::service::hls {
namespace {

constexpr UtcTime kNow{std::chrono::milliseconds(1'795'788'309'042)};

TEST(ProgramDates, FollowMediaTime) {
    ProgramDates dates;
    EXPECT_FALSE(dates.date_of(0s));
    EXPECT_EQ(dates.begin_segment(1s, kNow), kNow - 1s);
    EXPECT_EQ(dates.begin_segment(3s, kNow + 2'300ms), kNow - 1s) << "a late frame moves nothing";
    EXPECT_EQ(dates.date_of(1s), kNow);
    EXPECT_EQ(dates.date_of(3s + 999us), kNow + 2s);
}

TEST(ProgramDates, ReturnToTheClock) {
    ProgramDates dates;
    dates.begin_segment(0s, kNow);
    dates.begin_segment(2s, kNow + 7s);
    EXPECT_EQ(dates.date_of(2s), kNow + 2s) << "at the bound";
    dates.begin_segment(4s, kNow + 9'001ms);
    EXPECT_EQ(dates.date_of(4s), kNow + 9'001ms);
    EXPECT_EQ(dates.date_of(3s), kNow + 3s) << "earlier segments keep their date";
    dates.restart();
    dates.begin_segment(5s, kNow + 10'100ms);
    EXPECT_EQ(dates.date_of(5s), kNow + 10'100ms);
}

TEST(ProgramDates, FollowAnotherNodeOnItsTimeline) {
    ProgramDates dates;
    dates.set_zero(10s, kNow);
    EXPECT_EQ(dates.date_of(12s), kNow + 12s);
    dates.set_zero(4s, kNow + 1s);
    EXPECT_EQ(dates.date_of(12s), kNow + 13s) << "the timeline has restarted";
    for (int i = 0; i < 100; ++i)
        dates.set_zero(std::chrono::seconds(10 + i), kNow + std::chrono::milliseconds(i));
    EXPECT_EQ(dates.date_of(1s), dates.date_of(2s).value() - 1s);
}

TEST(ProgramDates, AnotherTimelineHasItsDatesBeforeItsFirstSegmentToo) {
    ProgramDates dates;
    dates.begin_segment(2s, kNow);
    dates.set_zero(100s, kNow - 100s);
    dates.set_zero(110s, kNow - 99s);
    EXPECT_EQ(dates.date_of(97s), kNow + 95s);
    dates.begin_timeline(100s);
    EXPECT_EQ(dates.date_of(97s), kNow - 3s);
    EXPECT_EQ(dates.date_of(111s), kNow + 12s);
    dates.begin_timeline(90s);
    EXPECT_EQ(dates.date_of(97s), kNow - 3s);
}

}  // namespace
}  // namespace live::service::hls
