#include "session/common/read_tick.hpp"

#include <gtest/gtest.h>

namespace live::session {
namespace {

constexpr std::chrono::milliseconds kPause{80};
constexpr std::size_t kRoom = 100'000;

TimePoint at(Duration time) { return TimePoint(time); }
std::size_t room() { return kRoom; }

TEST(ReadTick, ReturnsTheNextMultipleOfTheInterval) {
    EXPECT_EQ(ReadTick::after(at(0ms), kPause), at(80ms));
    EXPECT_EQ(ReadTick::after(at(79'999us), kPause), at(80ms));
    EXPECT_EQ(ReadTick::after(at(80ms), kPause), at(160ms)) << "a tick that is now has been used";
}

TEST(ReadTick, AsksForTheRoomOfFastPublishersOnly) {
    ReadTick tick;
    bool asked = false;
    const auto asking = [&asked] {
        asked = true;
        return kRoom;
    };
    EXPECT_EQ(tick.next(at(1ms), kPause, ReadTick::kLittle - 1, asking), at(80ms));
    EXPECT_FALSE(asked);
    EXPECT_EQ(tick.next(at(1ms), kPause, ReadTick::kLittle, asking), at(80ms));
    EXPECT_TRUE(asked);
}

TEST(ReadTick, HalvesItselfDownToTheQuickestWhileTheBufferFills) {
    ReadTick tick;
    for (const auto expected : {40ms, 20ms, 10ms, 5ms, 5ms})
        EXPECT_EQ(tick.next(at(0ms), kPause, kRoom / 4 * 3, room), at(expected));
    EXPECT_EQ(tick.next(at(0ms), kPause, kRoom / 2, room), at(5ms)) << "between the bounds nothing changes";
    for (const auto expected : {10ms, 20ms, 40ms, 80ms, 80ms})
        EXPECT_EQ(tick.next(at(0ms), kPause, kRoom / 8, room), at(expected));
}

}  // namespace
}  // namespace live::session
