#include "base/bytes/random.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(RandomId, HasRequestedLengthAndAlphabet) {
    EXPECT_EQ(random_id().size(), 8u);
    EXPECT_EQ(random_id(0), "");
    const std::string id = random_id(1'000);
    EXPECT_EQ(id.size(), 1'000u);
    EXPECT_TRUE(std::ranges::all_of(
        id, [](char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z'); }));
    EXPECT_EQ(std::set<char>(id.begin(), id.end()).size(), 36u) << "in 1,000 letters each of the 36 comes up";
}

TEST(RandomId, DoesNotRepeat) {
    std::set<std::string> seen;
    for (int i = 0; i < 1'000; ++i)
        seen.insert(random_id());
    EXPECT_EQ(seen.size(), 1'000u);
}

TEST(Random, FillsEveryByteOfAnyLength) {
    for (const std::size_t size : {0U, 1U, 255U, 256U, 257U, 1'000U}) {
        std::vector<std::uint8_t> seen(size);
        for (int round = 0; round < 8; ++round) {
            std::vector<std::uint8_t> bytes(size);
            fill_random(bytes);
            for (std::size_t i = 0; i < size; ++i)
                seen[i] |= bytes[i];
        }
        EXPECT_EQ(std::ranges::count(seen, 0), 0) << size;
    }
    EXPECT_NE(random_number(), random_number());
}

}  // namespace
}  // namespace live
