#include "engine/rtp/send/outgoing_numbers.hpp"

#include <gtest/gtest.h>

namespace live::engine::rtp {
namespace {

constexpr std::uint64_t kAny = 4'096;

std::uint16_t low(std::uint64_t number) { return static_cast<std::uint16_t>(number); }

TEST(OutgoingNumbers, AJumpLeavesNoHoleAndALossDoes) {
    OutgoingNumbers numbers(7);
    const std::uint64_t first = numbers.advance({65'535}, false);
    EXPECT_EQ(numbers.advance({0}, false), first + 1) << "the rtp_log's numbers turn";
    EXPECT_EQ(numbers.advance({900}, false), first + 2) << "a jump";
    EXPECT_EQ(numbers.advance({902}, true), first + 4) << "a loss";
    EXPECT_EQ(numbers.next(), first + 5);
}

TEST(OutgoingNumbers, BothWaysAcrossAJump) {
    OutgoingNumbers numbers(7);
    const std::uint64_t first = numbers.advance({10}, false);
    numbers.advance({500}, false);
    numbers.advance({501}, false);
    EXPECT_EQ(numbers.out_of({10}), first);
    EXPECT_EQ(numbers.out_of({501}), first + 2);
    EXPECT_FALSE(numbers.out_of({11})) << "jumped over";
    EXPECT_EQ(numbers.log_number(low(first), kAny), LogNumber{10});
    EXPECT_EQ(numbers.log_number(low(first + 1), kAny), LogNumber{500});
    EXPECT_FALSE(numbers.log_number(low(first + 3), kAny)) << "not sent yet";
    EXPECT_FALSE(numbers.log_number(low(first), 2)) << "too long ago";
}

TEST(OutgoingNumbers, TheOldestJumpIsForgotten) {
    OutgoingNumbers numbers(7);
    const std::uint64_t first = numbers.advance({0}, false);
    for (std::uint16_t i = 1; i <= OutgoingNumbers::kLinesMax; ++i)
        numbers.advance({static_cast<std::uint16_t>(100 * i)}, false);
    EXPECT_FALSE(numbers.log_number(low(first), kAny));
    EXPECT_EQ(numbers.log_number(low(first + 1), kAny), LogNumber{100});
}

TEST(OutgoingNumbers, ContinueAcrossLayers) {
    OutgoingNumbers numbers(7);
    const std::uint64_t first = numbers.advance({10, 1}, false);
    EXPECT_EQ(numbers.advance({11, 2}, false), first + 1) << "another log";
    EXPECT_EQ(numbers.advance({12, 2}, false), first + 2);
    EXPECT_EQ(numbers.advance({40, 1}, true), first + 4) << "the frame before the change was cut short";
    EXPECT_EQ(numbers.out_of({10, 1}), first);
    EXPECT_EQ(numbers.out_of({12, 2}), first + 2);
    EXPECT_FALSE(numbers.out_of({12, 1})) << "not of this layer";
    EXPECT_EQ(numbers.log_number(low(first + 2), kAny), (LogNumber{12, 2}));
    EXPECT_EQ(numbers.log_number(low(first + 4), kAny), (LogNumber{40, 1}));
}

TEST(OutgoingNumbers, FindTheNewestOfALongLine) {
    OutgoingNumbers numbers(7);
    const std::uint64_t first = numbers.advance({0}, false);
    for (std::uint32_t i = 1; i < 70'000; ++i)
        numbers.advance({static_cast<std::uint16_t>(i)}, false);
    EXPECT_EQ(numbers.out_of({3}), first + 65'539);
    EXPECT_EQ(numbers.out_of({60'000}), first + 60'000);
}

TEST(OutgoingNumbers, BeginsWhereNoTurnIsNear) {
    for (const std::uint32_t ssrc : {0U, 1U, 0xFFFF'FFFFU, 0x8000'8000U})
        EXPECT_LT(low(OutgoingNumbers(ssrc).next()), 1U << 15) << ssrc;
}

}  // namespace
}  // namespace live::engine::rtp
