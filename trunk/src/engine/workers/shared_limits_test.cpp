#include "engine/workers/shared_limits.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace live::engine::workers {
namespace {

constexpr Worker kWorkers = 3;
constexpr SharedLimits::Key kKey = {1, 2, 3};
using Sum = SharedLimits::Sum;

using Address = std::array<std::uint8_t, 16>;
Address address_of(std::uint32_t number) {
    Address address{};
    std::memcpy(address.data(), &number, sizeof number);
    return address;
}

struct WorkersTallyTest : ::testing::Test {
    struct Free {
        void operator()(std::uint8_t* block) const { ::operator delete(block, std::align_val_t(SharedLimits::kAlignment)); }
    };
    WorkersTallyTest() {
        std::memset(memory.get(), 0, size);
        for (Worker worker = 1; worker <= kWorkers; ++worker)
            tallies.emplace_back(whole(), kWorkers, worker, kKey);
    }
    MutBytes whole() const { return {memory.get(), size}; }
    // Checks the counts only; paces belong to no worker.
    bool is_zero() const {
        const std::size_t counts = size - SharedLimits::kUses * 2 * (1U << 14) * sizeof(std::uint64_t);
        return std::all_of(memory.get(), memory.get() + counts, [](std::uint8_t byte) { return byte == 0; });
    }

    const std::size_t size = SharedLimits::bytes_for(kWorkers);
    const std::unique_ptr<std::uint8_t, Free> memory{
        static_cast<std::uint8_t*>(::operator new(size, std::align_val_t(SharedLimits::kAlignment)))};
    std::vector<SharedLimits> tallies;
    const TimePoint now = TimePoint() + 1h;
};

TEST_F(WorkersTallyTest, ASumCountsTheOtherWorkers) {
    tallies[0].set(Sum::places, 5);
    tallies[1].set(Sum::places, 7);
    tallies[2].set(Sum::memory, 9);
    EXPECT_EQ(tallies[0].others(Sum::places), 7U);
    EXPECT_EQ(tallies[1].others(Sum::places), 5U);
    EXPECT_EQ(tallies[2].others(Sum::places), 12U);
    EXPECT_EQ(tallies[2].others(Sum::memory), 0U);
}

TEST_F(WorkersTallyTest, ABoundOfOneAddressHoldsOverAllWorkers) {
    const Address stranger = address_of(1);
    EXPECT_TRUE(tallies[0].enter(0, stranger, 0, 3));
    EXPECT_TRUE(tallies[1].enter(0, stranger, 0, 3));
    EXPECT_TRUE(tallies[1].enter(0, stranger, 1, 3));
    for (SharedLimits& tally : tallies)
        EXPECT_FALSE(tally.enter(0, stranger, &tally == &tallies[1] ? 2 : &tally == &tallies[0] ? 1 : 0, 3));
    EXPECT_TRUE(tallies[2].enter(1, stranger, 0, 1)) << "another use";
    EXPECT_TRUE(tallies[2].enter(0, address_of(2), 0, 1)) << "another address";
    tallies[1].leave(0, stranger);
    EXPECT_TRUE(tallies[2].enter(0, stranger, 0, 3));
}

TEST_F(WorkersTallyTest, ARateHoldsOverAllWorkers) {
    const SharedLimits::Rate rate{100ms, 1s};
    const Address stranger = address_of(1);
    int granted = 0;
    for (int i = 0; i < 60; ++i)
        granted += tallies[static_cast<std::size_t>(i) % kWorkers].try_charge(0, stranger, rate, now) ? 1 : 0;
    EXPECT_EQ(granted, 10);
    EXPECT_TRUE(tallies[0].try_charge(0, address_of(2), rate, now));
    EXPECT_FALSE(tallies[0].try_charge(0, stranger, rate, now + 99ms));
    EXPECT_TRUE(tallies[1].try_charge(0, stranger, rate, now + 100ms));
    EXPECT_FALSE(tallies[2].try_charge(0, stranger, rate, now + 100ms));
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(tallies[2].try_charge(0, stranger, rate, now + 2h)) << "a quiet address may burst again";
}

TEST_F(WorkersTallyTest, ADeadWorkersCountsAreReleased) {
    const Address stranger = address_of(1);
    tallies[0].set(Sum::places, 5);
    tallies[1].set(Sum::places, 7);
    EXPECT_TRUE(tallies[0].enter(2, stranger, 0, 2));
    EXPECT_TRUE(tallies[1].enter(2, stranger, 0, 2));
    EXPECT_FALSE(tallies[2].enter(2, stranger, 0, 2));
    SharedLimits::forget(whole(), kWorkers, 1);
    EXPECT_EQ(tallies[2].others(Sum::places), 7U);
    EXPECT_TRUE(tallies[2].enter(2, stranger, 0, 2));
    EXPECT_FALSE(tallies[2].enter(2, stranger, 1, 2));
}

// Against exact counts: nothing is ever granted beyond a bound, next to nothing is refused below it, and nothing stays.
TEST_F(WorkersTallyTest, NeverCountsLessThanThereIs) {
    std::mt19937 random(7);  // NOLINT: the same each time
    constexpr std::uint32_t kAddresses = 2'000;
    constexpr std::size_t kBound = 6;
    std::map<std::uint32_t, std::array<std::size_t, kWorkers>> held;
    std::size_t wrongly_refused = 0;
    for (int i = 0; i < 60'000; ++i) {
        const std::uint32_t number = static_cast<std::uint32_t>(random()) % kAddresses;
        const std::size_t worker = random() % kWorkers;
        auto& counts = held[number];
        if (random() % 2 == 0 && counts[worker] > 0) {
            tallies[worker].leave(0, address_of(number));
            --counts[worker];
            continue;
        }
        const std::size_t all = counts[0] + counts[1] + counts[2];
        const bool entered = tallies[worker].enter(0, address_of(number), counts[worker], kBound);
        ASSERT_TRUE(!entered || all < kBound);
        wrongly_refused += !entered && all < kBound ? 1 : 0;
        counts[worker] += entered ? 1 : 0;
    }
    EXPECT_LT(wrongly_refused, 600U) << "one per cent";
    EXPECT_FALSE(is_zero());
    for (const auto& [number, counts] : held)
        for (std::size_t worker = 0; worker < kWorkers; ++worker)
            for (std::size_t i = 0; i < counts[worker]; ++i)
                tallies[worker].leave(0, address_of(number));
    EXPECT_TRUE(is_zero());
}

TEST_F(WorkersTallyTest, AnythingMayStandInTheMemory) {
    std::mt19937 random(7);  // NOLINT: the same each time
    for (std::size_t i = 0; i < size; ++i)
        memory.get()[i] = static_cast<std::uint8_t>(random());
    for (SharedLimits& tally : tallies)
        for (std::uint32_t i = 0; i < 100; ++i) {
            static_cast<void>(tally.enter(i % SharedLimits::kUses, address_of(i), 0, 1'000));
            static_cast<void>(tally.others(Sum::memory));
            static_cast<void>(tally.try_charge(i % SharedLimits::kUses, address_of(i), {100ms, 10s}, now));
        }
    // Arbitrary values do not count as times, and forgetting the workers clears all counts.
    for (Worker worker = 1; worker <= kWorkers; ++worker)
        SharedLimits::forget(whole(), kWorkers, worker);
    EXPECT_TRUE(is_zero());
    EXPECT_TRUE(tallies[0].try_charge(0, address_of(200), {100ms, 10s}, now));
}

}  // namespace
}  // namespace live::engine::workers
