#include "engine/rtp/receive/reception.hpp"

#include <gtest/gtest.h>

#include "engine/rtp/sender_clock.hpp"

namespace live::engine::rtp {
namespace {

struct Received : testing::Test {
    std::optional<Reception::Number> receive(std::uint16_t sequence) {
        now += 20ms;
        timestamp += 960;
        return reception.received(now, sequence, timestamp);
    }
    TimePoint now{1h};
    std::uint32_t timestamp = 0;
    Reception reception{48'000};
};

TEST_F(Received, CountsMissingPackets) {
    for (const std::uint16_t sequence : std::initializer_list<std::uint16_t>{65'533, 65'534, 1, 2, 0})
        EXPECT_TRUE(receive(sequence));
    const auto block = reception.report();
    EXPECT_EQ(block.lost, 1) << "65535";
    EXPECT_EQ(block.fraction_lost, 256 / 6);
    EXPECT_EQ(block.highest_sequence, 65'536U + 2) << "with the turns above";
    for (std::uint16_t sequence = 3; sequence < 13; ++sequence)
        receive(sequence);
    EXPECT_EQ(reception.report().fraction_lost, 0) << "since the last report";
    EXPECT_EQ(reception.lost(), 1);
}

TEST_F(Received, DuplicatesMakeLossNegativeAndTheFractionZero) {
    for (const std::uint16_t sequence : std::initializer_list<std::uint16_t>{1, 2, 2, 2})
        receive(sequence);
    const auto block = reception.report();
    EXPECT_EQ(block.lost, -2);
    EXPECT_EQ(block.fraction_lost, 0);
}

TEST_F(Received, AJumpIsBelievedWhenItIsFollowed) {
    const auto first = receive(100);
    ASSERT_TRUE(first);
    EXPECT_TRUE(receive(100 + Reception::kAheadMax)) << "as far as that is no jump";
    EXPECT_FALSE(receive(100 + 3 * Reception::kAheadMax));
    EXPECT_FALSE(receive(20'000)) << "nor does this follow it";
    EXPECT_FALSE(receive(30'000));
    const auto again = receive(30'001);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->has_restarted);
    EXPECT_GT(again->sequence, first->sequence + Reception::kAheadMax);
    EXPECT_EQ(static_cast<std::uint16_t>(again->sequence), 30'001);
    const auto next = receive(30'002);
    ASSERT_TRUE(next);
    EXPECT_FALSE(next->has_restarted);
    EXPECT_EQ(next->sequence, again->sequence + 1);
    EXPECT_EQ(reception.widen(30'000), again->sequence - 1);
}

TEST_F(Received, LateIsFineWithinABound) {
    receive(5'000);
    EXPECT_TRUE(receive(5'000 - Reception::kBehindMax));
    EXPECT_FALSE(receive(5'000 - Reception::kBehindMax - 1));
}

// A.8: packets that arrive 8 ms late, or early after a late one.
TEST_F(Received, JitterMeasuresUnevenArrival) {
    for (std::uint16_t i = 0; i < 200; ++i) {
        now += i % 2 == 0 ? 8ms : -8ms;
        receive(i);
    }
    EXPECT_NEAR(static_cast<double>(reception.jitter().count()), 8'000, 100);
    EXPECT_NEAR(reception.report().jitter, 8 * 48, 5);
}

TEST(SenderClock, TimesGoBothWays) {
    for (const std::chrono::microseconds time : {1us, 999'999us, 1'000'000us, 3'900'000'000'123'456us})
        EXPECT_EQ(from_ntp(to_ntp(time)), time);
    SenderClock clock(90'000);
    EXPECT_FALSE(clock.time_of(1));
    clock.reported(TimePoint{1h}, {.ssrc = 1, .ntp = 0, .rtp_time = 5, .blocks = {}});
    EXPECT_FALSE(clock.time_of(1)) << "the sender did not know";
    clock.reported(TimePoint{1h}, {.ssrc = 1, .ntp = to_ntp(50s), .rtp_time = 0xFFFFFF00, .blocks = {}});
    EXPECT_EQ(clock.time_of(0xFFFFFF00U + 90), std::chrono::microseconds(50'001ms)) << "across the turn";
    EXPECT_EQ(clock.timestamp_at(51s), 0xFFFFFF00U + 90'000);
    EXPECT_EQ(clock.timestamp_at(49s), 0xFFFFFF00U - 90'000);
    wire::rtcp::ReportBlock block;
    clock.fill(block, TimePoint{1h} + 500ms);
    EXPECT_EQ(block.delay_since, 32'768U);
    EXPECT_EQ(block.last_sender_report, static_cast<std::uint32_t>(to_ntp(50s) >> 16));
}

}  // namespace
}  // namespace live::engine::rtp
