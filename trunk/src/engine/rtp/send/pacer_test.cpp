#include "engine/rtp/send/pacer.hpp"

#include <gtest/gtest.h>

namespace live::engine::rtp {
namespace {

constexpr std::size_t kPacket = 1'250;  // 10,000 bits

TEST(Pacer, SpreadsAFrameAtTheRate) {
    TimePoint now{1h};
    Pacer pacer({.bits_per_second = 1'000'000, .headroom = 1, .burst = 10ms}, now);
    const TimePoint begin = now;
    for (int i = 0; i < 101; ++i) {
        now = pacer.next_send(now);
        EXPECT_TRUE(pacer.may_send(now));
        pacer.sent(now, kPacket);
    }
    EXPECT_NEAR(std::chrono::duration<double>(now - begin).count(), 1.0, 0.001) << "a million bits behind the first packet";
}

TEST(Pacer, APauseGivesAShortBurstOnly) {
    TimePoint now{1h};
    Pacer pacer({.bits_per_second = 1'000'000, .headroom = 1, .burst = 30ms}, now);
    now += 10s;
    int burst = 0;
    for (; pacer.may_send(now); ++burst)
        pacer.sent(now, kPacket);
    EXPECT_EQ(burst, 4) << "three for the burst, and one that makes the debt";
    EXPECT_EQ(pacer.next_send(now), now + 10ms);
}

TEST(Pacer, ANewRateCountsFromNow) {
    TimePoint now{1h};
    Pacer pacer({.bits_per_second = 1'000'000, .headroom = 1}, now);
    pacer.sent(now, 10 * kPacket);
    EXPECT_EQ(pacer.next_send(now), now + 100ms);
    pacer.set_rate(now, 10'000'000);
    EXPECT_EQ(pacer.next_send(now), now + 10ms);
    pacer.set_rate(now, 0);
    EXPECT_GT(pacer.next_send(now), now + 1h) << "nothing is not forever, and no division by it";
}

TEST(Pacer, AnEarlierTimeChangesNothing) {
    const TimePoint now{1h};
    Pacer pacer({.bits_per_second = 1'000'000, .headroom = 1}, now);
    pacer.sent(now, kPacket);
    EXPECT_FALSE(pacer.may_send(now - 1s));
    EXPECT_TRUE(pacer.may_send(now + 10ms));
}

}  // namespace
}  // namespace live::engine::rtp
