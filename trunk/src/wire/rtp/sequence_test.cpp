#include "wire/rtp/sequence.hpp"

#include <gtest/gtest.h>

namespace live::wire::rtp {
namespace {

TEST(Unwrapper, FollowsAcrossTheTurn) {
    SequenceUnwrapper sequence;
    EXPECT_EQ(sequence.widen(65'534), 65'536U + 65'534);
    EXPECT_EQ(sequence.widen(65'535), 65'536U + 65'535);
    EXPECT_EQ(sequence.widen(1), 2 * 65'536U + 1);
    EXPECT_EQ(sequence.widen(65'533), 65'536U + 65'533) << "late";
    EXPECT_EQ(sequence.peek(3), 2 * 65'536U + 3);
    EXPECT_EQ(sequence.peek(65'532), 65'536U + 65'532);
}

TEST(Unwrapper, NumbersBeforeTheFirstStayAboveZero) {
    SequenceUnwrapper sequence;
    EXPECT_EQ(sequence.widen(0), 65'536U);
    EXPECT_EQ(sequence.widen(65'535), 65'535U);
    EXPECT_EQ(sequence.widen(40'000), 40'000U);
    EXPECT_EQ(sequence.widen(10'000), 10'000U);
    EXPECT_EQ(sequence.widen(50'000), 50'000U) << "never below zero, however far back";
}

TEST(Unwrapper, TimesTurnToo) {
    TimestampUnwrapper time;
    const std::uint64_t first = time.widen(0xFFFFFFF0U);
    EXPECT_EQ(time.widen(0x10U) - first, 0x20U);
}

}  // namespace
}  // namespace live::wire::rtp
