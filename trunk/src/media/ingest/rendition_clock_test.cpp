#include "media/ingest/rendition_clock.hpp"

#include <random>

#include <gtest/gtest.h>

namespace live::media {
namespace {

using std::chrono::milliseconds;

struct RenditionClockTest : ::testing::Test {
    std::int64_t map(std::int64_t stamp_ms, std::int64_t newest_ms, MediaKind kind = MediaKind::video) {
        return to_ms(clock.map(kind, TrackId(), static_cast<std::uint32_t>(stamp_ms), milliseconds(newest_ms)));
    }

    RenditionClock clock;
};

TEST_F(RenditionClockTest, KeepsTimesOfTheSourceHoweverLateTheyAre) {
    EXPECT_EQ(map(20'000, 20'040), 20'000);
    EXPECT_EQ(map(20'040, 24'000), 20'040);
    EXPECT_EQ(map(20'080, 30'000), 20'080);
    EXPECT_EQ(map(20'000, 30'000, MediaKind::audio), 20'000);
}

TEST_F(RenditionClockTest, PlacesOtherStampsAtTheNewestPacket) {
    EXPECT_EQ(map(0, 60'000), 60'000);
    EXPECT_EQ(map(40, 60'030), 60'040);
    EXPECT_EQ(map(20, 60'030, MediaKind::audio), 60'020) << "all tracks have the same shift";
    EXPECT_EQ(map(5'000'000, 60'070), 60'070) << "a new time base";
    EXPECT_EQ(map(5'000'040, 60'100), 60'110);
}

TEST_F(RenditionClockTest, TakesTimesOfTheSourceAgain) {
    EXPECT_EQ(map(0, 60'000), 60'000);
    EXPECT_EQ(map(72'000, 72'100), 72'000) << "12 s ahead of its base, but near the source's time";
}

TEST_F(RenditionClockTest, NeverRunsBackwards) {
    EXPECT_EQ(map(1'000, 1'000), 1'000);
    EXPECT_EQ(map(900, 1'000), 1'000);
    EXPECT_EQ(map(900, 1'000, MediaKind::audio), 900);
}

TEST_F(RenditionClockTest, SurvivesWrappingStamps) {
    constexpr std::int64_t kWrap = std::int64_t{1} << 32;
    EXPECT_EQ(map(kWrap - 20, kWrap), kWrap - 20);
    EXPECT_EQ(map(20, kWrap + 20), kWrap + 20);
}

TEST_F(RenditionClockTest, StaysNearTheSourceForAnyStamps) {
    std::mt19937 generator(7);
    const auto random = [&generator] { return static_cast<std::int64_t>(generator()); };
    std::int64_t newest_ms = 0;
    std::int64_t last_ms = 0;
    for (int i = 0; i < 10'000; ++i) {
        newest_ms += random() % 100;
        const std::int64_t stamp_ms = random() % 4 == 0 ? random() : newest_ms - random() % 2'000;
        const std::int64_t time_ms = map(stamp_ms, newest_ms);
        ASSERT_GE(time_ms, last_ms);
        ASSERT_GE(time_ms, newest_ms - RenditionClock::kBehindMax.count());
        ASSERT_LE(time_ms, newest_ms + RenditionClock::kAheadMax.count());
        last_ms = time_ms;
    }
}

}  // namespace
}  // namespace live::media
