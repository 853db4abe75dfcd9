#include "io/threads/fair_queue.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::io {
namespace {

using Queue = FairQueue<int, std::string>;
using Room = Queue::Room;

std::vector<std::string> all_of(Queue& queue) {
    std::vector<std::string> items;
    while (!queue.empty())
        items.push_back(queue.pop());
    return items;
}

TEST(FairQueue, PartiesTakeTurns) {
    Queue queue(10, 10);
    for (const char* item : {"a1", "a2", "a3"})
        EXPECT_EQ(queue.push(1, item), Room::yes);
    EXPECT_EQ(queue.push(2, "b1"), Room::yes);
    EXPECT_EQ(queue.push(std::nullopt, "own"), Room::yes);
    EXPECT_EQ(queue.pop(), "a1");
    EXPECT_EQ(queue.push(3, "c1"), Room::yes);
    EXPECT_EQ(all_of(queue), (std::vector<std::string>{"b1", "own", "a2", "c1", "a3"}));
    EXPECT_EQ(queue.push(1, "a4"), Room::yes);
    EXPECT_EQ(all_of(queue), std::vector<std::string>{"a4"});
}

TEST(FairQueue, BoundsEachPartyAndTheWhole) {
    Queue queue(5, 2);
    for (int party : {1, 1, 2})
        EXPECT_EQ(queue.push(party, "x"), Room::yes);
    EXPECT_EQ(queue.push(1, "x"), Room::party_full);
    EXPECT_EQ(queue.room_for(2), Room::yes);
    EXPECT_EQ(queue.push(std::nullopt, "own"), Room::yes);
    EXPECT_EQ(queue.push(std::nullopt, "own"), Room::yes);
    EXPECT_EQ(queue.size(), 5U);
    for (const std::optional<int> party : {std::optional<int>(1), std::optional<int>(9), std::optional<int>()})
        EXPECT_EQ(queue.push(party, "x"), Room::full);
    queue.pop();
    EXPECT_EQ(queue.push(1, "x"), Room::yes) << "what was taken makes room";
    queue.clear();
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.push(1, "x"), Room::yes);
}

}  // namespace
}  // namespace live::io
