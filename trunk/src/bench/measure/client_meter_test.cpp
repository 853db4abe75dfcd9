#include "bench/measure/client_meter.hpp"

#include <gtest/gtest.h>

namespace live::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class ClientMeterTest : public testing::Test {
protected:
    static TimePoint at(int ms) { return TimePoint(100s) + milliseconds(ms); }
    // Media arriving on time, every 40 ms, up to a time.
    void play(int from_ms, int to_ms, int behind_ms = 0) {
        for (int ms = from_ms; ms <= to_ms; ms += 40)
            meter_.on_media(at(ms + behind_ms), static_cast<std::uint32_t>(5000 + ms));
    }

    ClientMeter meter_{milliseconds(1000)};
};

TEST_F(ClientMeterTest, MeasuresConnectAndFirstFrameTimes) {
    EXPECT_FALSE(meter_.connect_time().has_value());
    meter_.begin_task(at(0));
    meter_.on_connected(at(3));
    meter_.on_media(at(50), 7);
    meter_.on_media(at(90), 47);
    meter_.end_task(at(1050), false);
    EXPECT_EQ(meter_.connect_time(), microseconds(3000));
    EXPECT_EQ(meter_.first_frame_time(), microseconds(50'000));
    EXPECT_EQ(meter_.playing_time(), microseconds(1'000'000));
    EXPECT_EQ(meter_.media_time(), milliseconds(40));
}

TEST_F(ClientMeterTest, KeepsTheSlowestTask) {
    meter_.begin_task(at(0));
    meter_.on_connected(at(9));
    meter_.end_task(at(20), true);
    meter_.begin_task(at(100));
    meter_.on_connected(at(101));
    meter_.end_task(at(120), false);
    EXPECT_EQ(meter_.connect_time(), microseconds(9000));
    EXPECT_EQ(meter_.tasks(), 2U);
    EXPECT_EQ(meter_.failed(), 1U);
}

TEST_F(ClientMeterTest, CountsALargeStepAsAGap) {
    meter_.begin_task(at(0));
    meter_.on_media(at(0), 1000);
    meter_.on_media(at(1), 1500);
    EXPECT_EQ(meter_.gaps(), 0U);
    meter_.on_media(at(2), 2001);
    EXPECT_EQ(meter_.gaps(), 1U);
    EXPECT_EQ(meter_.gap_time(), milliseconds(501));
    EXPECT_EQ(meter_.media_time(), milliseconds(500));
}

TEST_F(ClientMeterTest, InterleavedKindsAndAClockThatWrapsAreNoGaps) {
    meter_.begin_task(at(0));
    meter_.on_media(at(0), 0xFFFF'FFF0);
    meter_.on_media(at(1), 0xFFFF'FFE0);
    meter_.on_media(at(2), 16);
    meter_.on_media(at(3), 8);
    EXPECT_EQ(meter_.gaps(), 0U);
    EXPECT_EQ(meter_.media_time(), milliseconds(32));
}

TEST_F(ClientMeterTest, CountsNoGapWhenAStreamRestarts) {
    meter_.begin_task(at(0));
    meter_.on_media(at(0), 90'000);
    meter_.on_media(at(1), 0);
    meter_.on_media(at(2), 40);
    EXPECT_EQ(meter_.gaps(), 0U);
    EXPECT_EQ(meter_.media_time(), milliseconds(40));
}

TEST_F(ClientMeterTest, MediaInTimeNeverStalls) {
    meter_.begin_task(at(0));
    play(0, 10'000);
    meter_.end_task(at(10'040), false);
    EXPECT_EQ(meter_.stalls(), 0U);
}

TEST_F(ClientMeterTest, CountsNoStallWithinTheBuffer) {
    meter_.begin_task(at(0));
    play(0, 5'000);
    play(5'040, 9'000, 900);
    meter_.end_task(at(9'900), false);
    EXPECT_EQ(meter_.stalls(), 0U);
}

TEST_F(ClientMeterTest, EndsAStallWhenTheBufferIsFull) {
    meter_.begin_task(at(0));
    play(0, 5'000);
    // Playback starts when 1,000 ms are buffered, so it is 1,000 ms behind and runs dry at 6,000. Media resumes at 7,040.
    play(5'040, 12'000, 2'000);
    meter_.end_task(at(14'000), false);
    EXPECT_EQ(meter_.stalls(), 1U);
    // Full again with media 6,000, which arrives at 8,000.
    EXPECT_EQ(meter_.stall_time(), milliseconds(2000));
}

TEST_F(ClientMeterTest, CountsAnUnfinishedStallToTheEnd) {
    meter_.begin_task(at(0));
    play(0, 5'000);
    meter_.end_task(at(9'000), false);
    EXPECT_EQ(meter_.stalls(), 1U);
    EXPECT_EQ(meter_.stall_time(), milliseconds(3000));
}

TEST_F(ClientMeterTest, FragmentsFillTheBufferToo) {
    meter_.begin_task(at(0));
    meter_.on_fragment(at(100), milliseconds(2000));
    meter_.on_fragment(at(2000), milliseconds(2000));
    meter_.on_fragment(at(7000), milliseconds(2000));
    meter_.end_task(at(7500), false);
    EXPECT_EQ(meter_.first_frame_time(), microseconds(100'000));
    EXPECT_EQ(meter_.media_time(), milliseconds(6000));
    EXPECT_EQ(meter_.stalls(), 1U);
    EXPECT_EQ(meter_.stall_time(), milliseconds(2900));
}

TEST_F(ClientMeterTest, DelaysHaveAMeanAndALargest) {
    meter_.on_delay(microseconds(100));
    meter_.on_delay(microseconds(300));
    meter_.on_delay(microseconds(-50));
    EXPECT_EQ(meter_.delays(), 3U);
    EXPECT_EQ(meter_.delay_mean(), microseconds(133));
    EXPECT_EQ(meter_.delay_max(), microseconds(300));
}

}  // namespace
}  // namespace live::bench
