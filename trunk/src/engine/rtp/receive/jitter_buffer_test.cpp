#include "engine/rtp/receive/jitter_buffer.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace live::engine::rtp {
namespace {

struct Buffer : testing::Test {
    std::vector<std::uint64_t> pop_all() {
        std::vector<std::uint64_t> sequences;
        while (const auto ordered = buffer.pop(now))
            sequences.push_back(ordered->sequence);
        return sequences;
    }
    bool push(std::uint64_t sequence) {
        return buffer.push(now, {.sequence = sequence, .payload = Slice::copy_of(as_bytes("x"))});
    }

    using Numbers = std::vector<std::uint64_t>;
    TimePoint now{1h};
    JitterBuffer buffer{100ms};
};

TEST_F(Buffer, PacketsInOrderDoNotWait) {
    for (std::uint64_t i = 10; i < 20; ++i) {
        EXPECT_TRUE(push(i));
        EXPECT_EQ(pop_all(), Numbers{i});
    }
    EXPECT_FALSE(buffer.next_timeout());
}

TEST_F(Buffer, OnlyTheNextInOrderPasses) {
    EXPECT_TRUE(buffer.pass(10));
    EXPECT_TRUE(buffer.pass(11));
    EXPECT_FALSE(buffer.pass(11)) << "a duplicate";
    EXPECT_FALSE(buffer.pass(13)) << "12 is missing";
    push(13);
    EXPECT_FALSE(buffer.pass(12)) << "13 waits behind it";
    push(12);
    EXPECT_EQ(pop_all(), (Numbers{12, 13}));
    EXPECT_TRUE(buffer.pass(14));
    EXPECT_EQ(buffer.given_up(), 0U);
}

TEST_F(Buffer, APacketWaitsForTheOneBeforeIt) {
    push(1);
    EXPECT_EQ(pop_all(), Numbers{1});
    push(3);
    push(4);
    EXPECT_EQ(pop_all(), Numbers{});
    EXPECT_EQ(buffer.next_timeout(), now + 100ms);
    now += 50ms;
    push(2);
    EXPECT_EQ(pop_all(), (Numbers{2, 3, 4}));
    EXPECT_EQ(buffer.given_up(), 0U);
}

TEST_F(Buffer, AHoleIsGivenUpAfterTheWait) {
    push(1);
    pop_all();
    push(5);
    now += 99ms;
    EXPECT_EQ(pop_all(), Numbers{});
    now += 1ms;
    EXPECT_EQ(pop_all(), Numbers{5});
    EXPECT_EQ(buffer.given_up(), 3U);
    EXPECT_FALSE(push(4)) << "too late";
    EXPECT_FALSE(push(5)) << "it came before";
}

TEST_F(Buffer, IgnoresDuplicates) {
    push(1);
    pop_all();
    EXPECT_TRUE(push(3));
    EXPECT_FALSE(push(3));
    EXPECT_EQ(buffer.waiting(), 1U);
}

TEST_F(Buffer, TheBeginningMayBeOutOfOrder) {
    push(5);
    EXPECT_TRUE(push(4));
    EXPECT_EQ(pop_all(), (Numbers{4, 5}));
    EXPECT_FALSE(push(3));
}

TEST_F(Buffer, HasABound) {
    push(1);
    pop_all();
    for (std::uint64_t i = 3; i < 2 + JitterBuffer::kPacketsMax; ++i)
        push(i);
    EXPECT_EQ(pop_all(), Numbers{});
    push(3 + JitterBuffer::kPacketsMax);
    EXPECT_FALSE(push(4 + JitterBuffer::kPacketsMax)) << "nobody has taken any";
    const auto all = pop_all();
    EXPECT_EQ(all.size(), JitterBuffer::kPacketsMax - 1) << "up to the next hole";
    EXPECT_EQ(buffer.waiting(), 1U);
}

TEST_F(Buffer, SortsAnyOrderWithinTheWait) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        JitterBuffer shuffled(1s);
        std::vector<std::uint64_t> sent;
        for (std::uint64_t i = 0; i < 200; ++i)
            sent.push_back(1'000 + i);
        for (std::size_t i = 1; i + 8 < sent.size(); ++i)
            std::swap(sent[i], sent[i + random() % 8]);
        Numbers got;
        for (const std::uint64_t sequence : sent) {
            now += 1ms;
            shuffled.push(now, {.sequence = sequence, .payload = {}});
            while (const auto ordered = shuffled.pop(now))
                got.push_back(ordered->sequence);
        }
        ASSERT_EQ(got.size(), sent.size()) << "seed " << seed;
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_EQ(got[i], 1'000 + i);
    }
}

}  // namespace
}  // namespace live::engine::rtp
