#include "base/ring_queue.hpp"

#include <deque>
#include <random>

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(RingQueue, HoldsNothingBeforeItIsUsed) {
    const RingQueue<int> queue;
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.held_bytes(), 0U);
}

TEST(RingQueue, IsAQueueAtBothEnds) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        RingQueue<int> queue;
        std::deque<int> twin;
        for (int i = 0; i < 2'000; ++i) {
            // Mostly pushes first, then mostly pops.
            const auto dice = random() % 10;
            if (twin.empty() || dice < (i < 1'000 ? 7U : 3U)) {
                queue.push_back(i);
                twin.push_back(i);
            } else if (dice == 9) {
                queue.pop_back();
                twin.pop_back();
            } else {
                queue.pop_front();
                twin.pop_front();
            }
            ASSERT_EQ(queue.size(), twin.size());
            for (std::size_t k = 0; k < twin.size(); k += 1 + twin.size() / 4)
                ASSERT_EQ(queue[k], twin[k]);
            if (!twin.empty()) {
                ASSERT_EQ(queue.front(), twin.front());
                ASSERT_EQ(queue.back(), twin.back());
            }
        }
    }
}

TEST(RingQueue, ReleasesUnusedMemory) {
    RingQueue<int> queue;
    for (int i = 0; i < 4'096; ++i)
        queue.push_back(i);
    EXPECT_EQ(queue.held_bytes(), 4'096 * sizeof(int));
    while (queue.size() > 1)
        queue.pop_front();
    EXPECT_EQ(queue.front(), 4'095);
    EXPECT_EQ(queue.held_bytes(), RingQueue<int>::kFirstCapacity * sizeof(int));
    queue.clear();
    EXPECT_EQ(queue.held_bytes(), 0U);
}

// The purpose of the class: a player's packets pass through without allocating or freeing a block.
TEST(RingQueue, ReusesItsMemory) {
    RingQueue<int> queue;
    for (int i = 0; i < 6; ++i)
        queue.push_back(i);
    const int* const block = &queue[0];
    for (int i = 6; i < 1'000; ++i) {
        queue.push_back(i);
        queue.pop_front();
        EXPECT_EQ(queue.front(), i - 5);
    }
    while (&queue[0] != block) {
        queue.push_back(0);
        queue.pop_front();
    }
    EXPECT_EQ(queue.held_bytes(), RingQueue<int>::kFirstCapacity * sizeof(int));
}

}  // namespace
}  // namespace live
