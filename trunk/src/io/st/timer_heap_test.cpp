#include "io/st/timer_heap.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "io/st/core.hpp"

namespace live::io::st {
namespace {

TEST(TimerHeap, GivesTheEarliestFirst) {
    TimerHeap heap;
    std::vector<_st_thread> threads(5);
    EXPECT_EQ(heap.first(), nullptr);
    for (const std::size_t i : {3U, 1U, 4U, 0U, 2U})
        heap.add(&threads[i], 100 + i);
    for (_st_thread& thread : threads) {
        ASSERT_EQ(heap.first(), &thread);
        heap.remove(&thread);
    }
    EXPECT_EQ(heap.size(), 0U);
}

TEST(TimerHeap, AgreesWithASortedMapThroughRandomAddsAndRemoves) {
    constexpr unsigned kSeed = 20240517;
    std::mt19937 random(kSeed);
    TimerHeap heap;
    std::vector<_st_thread> threads(500);
    std::vector<_st_thread*> idle;
    for (_st_thread& thread : threads)
        idle.push_back(&thread);
    std::map<_st_thread*, std::uint64_t> sleeping;
    for (int step = 0; step < 20'000; ++step) {
        const bool add = sleeping.empty() || (!idle.empty() && random() % 2 == 0);
        if (add) {
            std::swap(idle[random() % idle.size()], idle.back());
            const std::uint64_t due = random() % 1000;
            heap.add(idle.back(), due);
            sleeping[idle.back()] = due;
            idle.pop_back();
        } else {
            const auto chosen = random() % 3 == 0 ? sleeping.find(heap.first())
                                                  : std::next(sleeping.begin(), static_cast<long>(random() % sleeping.size()));
            heap.remove(chosen->first);
            idle.push_back(chosen->first);
            sleeping.erase(chosen);
        }
        ASSERT_EQ(heap.size(), sleeping.size());
        const auto least =
            std::min_element(sleeping.begin(), sleeping.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        const std::uint64_t expected = least == sleeping.end() ? 0 : least->second;
        ASSERT_EQ(heap.first() == nullptr ? 0 : sleeping[heap.first()], expected) << "step " << step << " of seed " << kSeed;
    }
}

TEST(TimerHeapDeathTest, RemovingAThreadThatDoesNotSleepAborts) {
    TimerHeap heap;
    _st_thread thread{};
    EXPECT_DEATH(heap.remove(&thread), "CHECK failed");
}

}  // namespace
}  // namespace live::io::st
