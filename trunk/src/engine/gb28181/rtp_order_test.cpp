#include "engine/gb28181/rtp_order.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/rounds_fixture.hpp"

#include "engine/gb28181/rtp_fixture.hpp"

namespace live::engine::gb28181 {
namespace {

void push(RtpOrder& order, std::uint16_t sequence, TimePoint now = kStart) {
    const std::uint8_t bytes[] = {static_cast<std::uint8_t>(sequence >> 8), static_cast<std::uint8_t>(sequence)};
    order.push(now, sequence, false, bytes);
}

std::vector<int> drain(RtpOrder& order, std::vector<int>* gaps = nullptr) {
    std::vector<int> out;
    while (const auto payload = order.next()) {
        out.push_back(payload->bytes[0] << 8 | payload->bytes[1]);
        if (payload->follows_gap && gaps != nullptr)
            gaps->push_back(out.back());
    }
    return out;
}

TEST(RtpOrder, PassesPacketsInOrderAtOnce) {
    RtpOrder order;
    push(order, 65'535);
    EXPECT_EQ(drain(order), (std::vector{65'535}));
    push(order, 0);
    push(order, 1);
    EXPECT_EQ(drain(order), (std::vector{0, 1}));
    EXPECT_EQ(order.held_bytes(), 0u);
}

TEST(RtpOrder, ReordersAndDropsRepetitions) {
    RtpOrder order;
    for (const int sequence : {10, 12, 13, 12, 11, 10, 14})
        push(order, static_cast<std::uint16_t>(sequence));
    EXPECT_EQ(drain(order), (std::vector{10, 11, 12, 13, 14}));
    EXPECT_EQ(order.counters().late, 2u);
    EXPECT_EQ(order.counters().lost, 0u);
}

TEST(RtpOrder, AMissingPacketIsLostWhenTheWindowIsFull) {
    RtpOrder order;
    push(order, 0);
    for (std::uint16_t i = 2; i <= RtpOrder::kWindow; ++i)
        push(order, i);
    EXPECT_EQ(drain(order).size(), 1u);
    push(order, RtpOrder::kWindow + 1);
    std::vector<int> gaps;
    EXPECT_EQ(drain(order, &gaps).size(), RtpOrder::kWindow);
    EXPECT_EQ(gaps, (std::vector{2}));
    EXPECT_EQ(order.counters().lost, 1u);
}

TEST(RtpOrder, AMissingPacketIsLostAfterATime) {
    RtpOrder order;
    push(order, 0);
    push(order, 2, kStart);
    push(order, 3, kStart + RtpOrder::kWaitMax);
    EXPECT_EQ(drain(order), (std::vector{0}));
    push(order, 4, kStart + RtpOrder::kWaitMax + 1ms);
    EXPECT_EQ(drain(order), (std::vector{2, 3, 4}));
}

TEST(RtpOrder, FollowsASenderThatRestarts) {
    RtpOrder order;
    push(order, 100);
    for (std::uint16_t i = 0; i < 5; ++i)
        push(order, static_cast<std::uint16_t>(40'000 + i));
    std::vector<int> gaps;
    EXPECT_EQ(drain(order, &gaps), (std::vector{100, 40'002, 40'003, 40'004}));
    EXPECT_EQ(gaps, (std::vector{40'002}));
    EXPECT_EQ(order.counters().restarts, 1u);
    push(order, 7);
    push(order, 40'005);
    EXPECT_EQ(drain(order), (std::vector{40'005})) << "one stray packet";
}

TEST(RtpOrder, AnyOrderWithinTheWindowIsRestored) {
    for (unsigned seed = 0; seed < rounds(50U, 1'000U); ++seed) {
        std::minstd_rand random(seed);
        std::vector<std::uint16_t> sequences;
        for (std::uint16_t i = 0; i < 500; ++i)
            sequences.push_back(static_cast<std::uint16_t>(65'400 + i));
        for (std::size_t i = 1; i + 20 < sequences.size(); i += 20)
            std::shuffle(sequences.begin() + static_cast<std::ptrdiff_t>(i),
                         sequences.begin() + static_cast<std::ptrdiff_t>(i + 20), random);
        RtpOrder order;
        std::vector<int> out;
        for (const std::uint16_t sequence : sequences) {
            push(order, sequence);
            for (const int one : drain(order))
                out.push_back(one);
        }
        ASSERT_EQ(out.size(), sequences.size()) << "seed " << seed;
        for (std::size_t i = 0; i < out.size(); ++i)
            ASSERT_EQ(out[i], (65'400 + static_cast<int>(i)) % 65'536) << "seed " << seed;
    }
}

}  // namespace
}  // namespace live::engine::gb28181
