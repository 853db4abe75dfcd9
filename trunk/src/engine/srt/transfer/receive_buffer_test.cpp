#include "engine/srt/transfer/receive_buffer.hpp"

#include <gtest/gtest.h>

namespace live::engine::srt {
namespace {

constexpr std::uint64_t kFirst = 1'000;

struct Buffer {
    explicit Buffer(ReceiveBuffer::Limits limits = {.bytes = 10'000, .packets = 64}) : buffer(kFirst, limits) {}

    // A packet of 100 bytes whose timestamp is its number in milliseconds.
    ReceiveBuffer::Place arrive(std::uint64_t number) {
        const auto place = buffer.place_of(kFirst + number, 100);
        if (place == ReceiveBuffer::Place::wanted)
            gap = buffer.insert(kFirst + number, std::chrono::milliseconds(number), Slice::allocate(100), now);
        return place;
    }
    // The same for one that is read on arrival.
    void arrive_read(std::uint64_t number) {
        ASSERT_EQ(buffer.place_of(kFirst + number, 100), ReceiveBuffer::Place::wanted);
        ASSERT_TRUE(buffer.continues_read(kFirst + number));
        buffer.insert_read(kFirst + number, std::chrono::milliseconds(number), 100);
    }
    std::size_t take(const DeliveryClock* with) {
        std::size_t count = 0;
        while (auto payload = buffer.take(now, with)) {
            ++count;
            skipped += payload->skipped;
            were_read += payload->was_read ? 1U : 0U;
            EXPECT_EQ(payload->size, 100U);
            EXPECT_EQ(payload->bytes.size(), payload->was_read ? 0U : 100U);
        }
        return count;
    }
    // The numbers of the payloads that can be read now.
    std::vector<std::uint64_t> read() {
        std::vector<std::uint64_t> numbers;
        while (const auto unread = buffer.read_next()) {
            EXPECT_EQ(unread->bytes.size(), 100U);
            numbers.push_back(unread->position - kFirst);
        }
        return numbers;
    }

    ReceiveBuffer buffer;
    DeliveryClock clock{Micros(0), 0, std::chrono::milliseconds(100)};
    Micros now{};
    std::optional<PositionRange> gap;
    std::uint64_t skipped = 0;
    std::uint64_t were_read = 0;
};

using Numbers = std::vector<std::uint64_t>;

TEST(SrtReceiveBuffer, DeliversInOrderWhenDue) {
    Buffer b;
    for (const std::uint64_t number : {2U, 0U, 1U})
        EXPECT_EQ(b.arrive(number), ReceiveBuffer::Place::wanted);
    EXPECT_EQ(b.buffer.first_missing(), kFirst + 3);
    b.now = std::chrono::milliseconds(99);
    EXPECT_EQ(b.take(&b.clock), 0U);
    EXPECT_EQ(b.buffer.next_due(&b.clock), std::chrono::milliseconds(100));
    b.now = std::chrono::milliseconds(101);
    EXPECT_EQ(b.take(&b.clock), 2U);
    b.now = std::chrono::milliseconds(102);
    EXPECT_EQ(b.take(&b.clock), 1U);
    EXPECT_EQ(b.buffer.packets(), 0U);
    EXPECT_EQ(b.buffer.bytes(), 0U);
    EXPECT_EQ(b.arrive(1), ReceiveBuffer::Place::late);
    EXPECT_FALSE(b.buffer.next_due(&b.clock).has_value());
}

TEST(SrtReceiveBuffer, ReportsGapsAndSkipsThemWhenLate) {
    Buffer b;
    b.arrive(0);
    b.arrive(5);
    ASSERT_TRUE(b.gap.has_value());
    EXPECT_EQ(*b.gap, PositionRange(kFirst + 1, kFirst + 4));
    EXPECT_EQ(b.arrive(5), ReceiveBuffer::Place::duplicate);
    b.arrive(3);
    EXPECT_EQ(b.buffer.missing(), 3U);
    EXPECT_EQ(b.buffer.missing_ranges(Micros(10), Micros(0), Micros(0), 9),
              (std::vector<PositionRange>{{kFirst + 1, kFirst + 2}, {kFirst + 4, kFirst + 4}}));
    EXPECT_TRUE(b.buffer.missing_ranges(Micros(11), Micros(5), Micros(5), 9).empty());
    EXPECT_EQ(b.buffer.missing_ranges(Micros(15), Micros(5), Micros(5), 1).size(), 1U);
    b.now = std::chrono::milliseconds(104);
    EXPECT_EQ(b.take(&b.clock), 2U);
    EXPECT_EQ(b.skipped, 2U);
    b.now = std::chrono::milliseconds(105);
    EXPECT_EQ(b.take(&b.clock), 1U);
    EXPECT_EQ(b.skipped, 3U);
    EXPECT_EQ(b.buffer.dropped(), 3U);
    EXPECT_EQ(b.buffer.missing(), 0U);
}

TEST(SrtReceiveBuffer, RequestsMoreOftenAfterThreeRequests) {
    Buffer b;
    b.arrive(0);
    b.arrive(2);
    const auto is_due = [&b](int at) { return !b.buffer.missing_ranges(Micros(at), Micros(50), Micros(10), 9).empty(); };
    EXPECT_FALSE(is_due(49));
    EXPECT_TRUE(is_due(50));
    EXPECT_FALSE(is_due(99));
    EXPECT_TRUE(is_due(100));
    EXPECT_FALSE(is_due(109));
    EXPECT_TRUE(is_due(110));
    EXPECT_TRUE(is_due(120));
    b.arrive(1);
    EXPECT_FALSE(is_due(130));
    b.now = Micros(130);
    b.arrive(4);
    EXPECT_FALSE(is_due(140));
    EXPECT_TRUE(is_due(180));
}

TEST(SrtReceiveBuffer, WithoutDropWaitsUntilItIsFull) {
    Buffer b({.bytes = 10'000, .packets = 64, .too_late_drop = false});
    b.arrive(0);
    for (std::uint64_t number = 2; number < 64; ++number)
        EXPECT_EQ(b.arrive(number), ReceiveBuffer::Place::wanted);
    b.now = std::chrono::seconds(9);
    EXPECT_EQ(b.take(&b.clock), 1U);
    EXPECT_EQ(b.arrive(64), ReceiveBuffer::Place::wanted);
    EXPECT_EQ(b.take(&b.clock), 0U);
    EXPECT_EQ(b.arrive(65), ReceiveBuffer::Place::no_space);
    EXPECT_EQ(b.take(&b.clock), 63U);
    EXPECT_EQ(b.skipped, 1U);
}

TEST(SrtReceiveBuffer, ForgetsPacketsThatTheSenderGaveUp) {
    Buffer b({.bytes = 10'000, .packets = 64, .too_late_drop = false});
    b.arrive(0);
    b.arrive(4);
    b.buffer.give_up({kFirst + 1, kFirst + 2});
    EXPECT_EQ(b.buffer.missing(), 1U);
    EXPECT_EQ(b.arrive(1), ReceiveBuffer::Place::late);
    b.buffer.give_up({kFirst - 100, kFirst + 100});
    EXPECT_EQ(b.buffer.missing(), 0U);
    EXPECT_EQ(b.take(nullptr), 2U);
    EXPECT_EQ(b.skipped, 3U);
    b.buffer.give_up({kFirst + 5, kFirst + 4});
    b.buffer.give_up({0, ~std::uint64_t{0} - 1});
}

TEST(SrtReceiveBuffer, IsBoundedInPacketsAndBytes) {
    Buffer b({.bytes = 1'000, .packets = 64});
    for (std::uint64_t number = 0; number < 10; ++number)
        EXPECT_EQ(b.arrive(number), ReceiveBuffer::Place::wanted);
    EXPECT_EQ(b.arrive(10), ReceiveBuffer::Place::no_space);
    EXPECT_EQ(b.arrive(5'000), ReceiveBuffer::Place::no_space);
    EXPECT_EQ(b.buffer.bytes(), 1'000U);
    EXPECT_EQ(b.take(nullptr), 10U);
    // When all has been delivered, a sender that is far ahead is followed.
    EXPECT_EQ(b.arrive(1'000'000'000), ReceiveBuffer::Place::wanted);
    EXPECT_EQ(b.take(nullptr), 1U);
    EXPECT_EQ(b.skipped, 1'000'000'000U - 10);
    EXPECT_LT(b.buffer.held_bytes(), 10'000U);
}

TEST(SrtReceiveBuffer, CountsUndecryptedPacketsAsSkipped) {
    Buffer b;
    b.arrive(0);
    b.buffer.insert(kFirst + 1, Micros(0), std::nullopt, b.now);
    b.arrive(2);
    EXPECT_EQ(b.buffer.missing(), 0U);
    EXPECT_EQ(b.take(nullptr), 2U);
    EXPECT_EQ(b.skipped, 1U);
}

TEST(SrtReceiveBuffer, ReadsInOrderBeforeTheyAreDue) {
    Buffer b;
    for (const std::uint64_t number : {0U, 1U, 3U, 4U})
        b.arrive(number);
    EXPECT_EQ(b.read(), (Numbers{0, 1}));
    EXPECT_EQ(b.read(), Numbers{});
    EXPECT_EQ(b.arrive(1), ReceiveBuffer::Place::duplicate);
    EXPECT_EQ(b.buffer.packets(), 4U);
    EXPECT_EQ(b.buffer.bytes(), 400U);
    b.now = std::chrono::milliseconds(99);
    EXPECT_EQ(b.take(&b.clock), 0U);
    EXPECT_EQ(b.buffer.next_due(&b.clock), std::chrono::milliseconds(100));
    b.now = std::chrono::milliseconds(100);
    EXPECT_EQ(b.take(&b.clock), 1U);
    b.arrive(2);
    EXPECT_EQ(b.read(), (Numbers{2, 3, 4}));
    b.now = std::chrono::milliseconds(104);
    EXPECT_EQ(b.take(&b.clock), 4U);
    EXPECT_EQ(b.were_read, 5U);
    EXPECT_EQ(b.skipped, 0U);
    EXPECT_EQ(b.buffer.bytes(), 0U);
}

TEST(SrtReceiveBuffer, ReadsNothingBehindAGapUntilItIsGivenUp) {
    Buffer b;
    b.arrive_read(0);
    for (const std::uint64_t number : {2U, 3U, 6U})
        b.arrive(number);
    EXPECT_EQ(b.read(), Numbers{});
    // The first is due and was not read; the next one can be.
    b.now = std::chrono::milliseconds(102);
    EXPECT_EQ(b.take(&b.clock), 2U);
    EXPECT_EQ(b.were_read, 1U);
    EXPECT_EQ(b.skipped, 1U);
    EXPECT_EQ(b.read(), (Numbers{3}));
    b.buffer.give_up({kFirst + 4, kFirst + 5});
    EXPECT_EQ(b.read(), (Numbers{6}));
    b.now = std::chrono::milliseconds(106);
    EXPECT_EQ(b.take(&b.clock), 2U);
    EXPECT_EQ(b.were_read, 3U);
    EXPECT_EQ(b.skipped, 3U);
}

TEST(SrtReceiveBuffer, ReadsOnArrivalOnlyThatWhichContinues) {
    Buffer b;
    b.arrive_read(0);
    b.arrive_read(1);
    EXPECT_FALSE(b.buffer.continues_read(kFirst + 1));
    EXPECT_FALSE(b.buffer.continues_read(kFirst + 3)) << "one is missing";
    b.arrive(3);
    EXPECT_TRUE(b.buffer.continues_read(kFirst + 2));
    b.arrive(2);
    EXPECT_FALSE(b.buffer.continues_read(kFirst + 4)) << "two are not read yet";
    EXPECT_EQ(b.read(), (Numbers{2, 3}));
    EXPECT_TRUE(b.buffer.continues_read(kFirst + 4));
    // One that could not be decrypted has nothing to read.
    b.buffer.insert(kFirst + 4, Micros(0), std::nullopt, b.now);
    EXPECT_EQ(b.read(), Numbers{});
    b.arrive_read(5);
    EXPECT_EQ(b.take(nullptr), 5U);
    EXPECT_EQ(b.skipped, 1U);
    // After a restart, too.
    EXPECT_EQ(b.arrive(1'000'000), ReceiveBuffer::Place::wanted);
    EXPECT_EQ(b.read(), Numbers{1'000'000});
    EXPECT_EQ(b.take(nullptr), 1U);
    b.arrive_read(1'000'001);
}

TEST(SrtReceiveBuffer, CountsReadPacketsUntilTheyAreDue) {
    Buffer b({.bytes = 1'000, .packets = 64});
    for (std::uint64_t number = 0; number < 10; ++number)
        b.arrive_read(number);
    EXPECT_EQ(b.arrive(10), ReceiveBuffer::Place::no_space);
    EXPECT_EQ(b.buffer.bytes(), 1'000U);
    EXPECT_EQ(b.buffer.space_packets(), 54U);
    b.now = std::chrono::milliseconds(100);
    EXPECT_EQ(b.take(&b.clock), 1U);
    EXPECT_EQ(b.arrive(10), ReceiveBuffer::Place::wanted);
}

TEST(SrtDeliveryClock, FollowsTheDriftOfAThousandSamples) {
    DeliveryClock clock(Micros(1'000'000), 0, std::chrono::milliseconds(120));
    EXPECT_EQ(clock.due_at(clock.widen(500)), Micros(1'120'500));
    // The peer's clock is 100 ppm slow: 10 ms each 100 s.
    for (std::int64_t i = 1; i <= 10'000; ++i) {
        const std::int64_t theirs = i * 10'000;
        clock.add_sample(Micros(1'000'000 + theirs + theirs / 10'000), static_cast<std::uint32_t>(theirs), Micros(20'000));
    }
    EXPECT_NEAR(static_cast<double>(clock.drift().count()), 9'500, 600);
    const Micros before = clock.drift();
    for (int i = 0; i < 2'000; ++i)
        clock.add_sample(std::chrono::hours(9), 5, Micros(20'000));
    EXPECT_EQ(clock.drift(), before);
}

TEST(SrtDeliveryClock, CountsTheTimeUnderWay) {
    DeliveryClock clock(Micros(0), 0, Micros(0));
    for (std::uint32_t i = 0; i < 1'000; ++i)
        clock.add_sample(Micros(i * 1'000 + (i == 0 ? 0 : 15'000)), i * 1'000, Micros(i == 0 ? 20'000 : 50'000));
    EXPECT_EQ(clock.drift(), Micros(0));
}

}  // namespace
}  // namespace live::engine::srt
