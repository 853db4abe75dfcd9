#include "engine/rtp/receive/nack_generator.hpp"

#include <gtest/gtest.h>

namespace live::engine::rtp {
namespace {

using Numbers = std::vector<std::uint16_t>;
constexpr std::uint64_t kTurn = 65'536;

struct Stream : testing::Test {
    void receive(std::initializer_list<std::uint64_t> sequences) {
        for (const std::uint64_t sequence : sequences)
            nacks.received(now, kTurn + sequence);
    }
    Numbers after(std::chrono::milliseconds wait) {
        now += wait;
        return nacks.due(now);
    }
    TimePoint now{1h};
    NackGenerator nacks;
};

TEST_F(Stream, RequestsAGapAfterAShortWait) {
    receive({1, 2, 5});
    EXPECT_EQ(after(9ms), Numbers{});
    EXPECT_EQ(nacks.next_timeout(), now + 1ms);
    EXPECT_EQ(after(1ms), (Numbers{3, 4}));
    EXPECT_EQ(after(0ms), Numbers{});
}

TEST_F(Stream, RequestsNoReorderedPackets) {
    receive({1, 4, 3, 2});
    EXPECT_EQ(after(100ms), Numbers{});
    EXPECT_FALSE(nacks.next_timeout());
}

TEST_F(Stream, RepeatsRequestEachRoundTripUntilArrival) {
    nacks.set_round_trip(90ms);
    receive({1, 3});
    EXPECT_EQ(after(10ms), Numbers{2});
    EXPECT_EQ(after(89ms), Numbers{});
    EXPECT_EQ(after(1ms), Numbers{2});
    receive({2});
    EXPECT_EQ(after(200ms), Numbers{});
}

TEST_F(Stream, MeasuresTheRoundTripFromSingleRequests) {
    nacks.set_round_trip(100ms);
    receive({1, 3});
    EXPECT_EQ(after(10ms), Numbers{2});
    now += 20ms;
    receive({2});
    EXPECT_EQ(nacks.round_trip(), 80ms);
    receive({5});
    EXPECT_EQ(after(10ms), Numbers{4});
    EXPECT_EQ(after(80ms), Numbers{4});
    receive({4});
    EXPECT_EQ(nacks.round_trip(), 80ms) << "whose answer is it?";
    EXPECT_EQ(nacks.requested(), 3U);
}

TEST_F(Stream, ReportsGivingUpOnce) {
    receive({1, 3});
    unsigned requests = 0;
    for (int i = 0; i < 200; ++i)
        requests += static_cast<unsigned>(after(10ms).size());
    EXPECT_EQ(requests, 8U);
    EXPECT_EQ(nacks.missing(), 0U);
    EXPECT_EQ(nacks.given_up(), 1U);
}

TEST_F(Stream, DoesNotRequestOldPacketsAgain) {
    nacks.set_round_trip(600ms);
    receive({1, 3});
    EXPECT_EQ(after(10ms), Numbers{2});
    EXPECT_EQ(after(600ms), Numbers{2});
    EXPECT_EQ(after(600ms), Numbers{});
    EXPECT_EQ(nacks.given_up(), 1U);
}

TEST_F(Stream, NumbersTurn) {
    receive({65'534, 65'537});
    EXPECT_EQ(after(10ms), (Numbers{65'535, 0}));
}

TEST_F(Stream, HasABound) {
    receive({1, 2 + NackGenerator::kMissingMax});
    EXPECT_EQ(nacks.missing(), NackGenerator::kMissingMax);
    receive({4 + NackGenerator::kMissingMax});
    EXPECT_EQ(nacks.missing(), 0U) << "one more is too many";
    EXPECT_EQ(nacks.given_up(), NackGenerator::kMissingMax + 1);
    receive({6 + NackGenerator::kMissingMax});
    EXPECT_EQ(nacks.missing(), 1U) << "and it goes on";
}

TEST_F(Stream, TheFirstPacketIsNoHole) {
    receive({500});
    EXPECT_EQ(after(1s), Numbers{});
}

}  // namespace
}  // namespace live::engine::rtp
