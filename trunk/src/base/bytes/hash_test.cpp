#include "base/bytes/hash.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

// The published vectors of FNV-1a: nodes of different versions compare these values.
TEST(Hash, IsFnv1a) {
    EXPECT_EQ(fnv1a({}), 0xCBF2'9CE4'8422'2325U);
    EXPECT_EQ(fnv1a(as_bytes("a")), 0xAF63'DC4C'8601'EC8CU);
    EXPECT_EQ(fnv1a(as_bytes("foobar")), 0x8594'4171'F739'67E8U);
}

TEST(Hash, ContinuesOverParts) { EXPECT_EQ(fnv1a(as_bytes("bar"), fnv1a(as_bytes("foo"))), fnv1a(as_bytes("foobar"))); }

TEST(Hash, DependsOnTheOrderOfNumbers) {
    EXPECT_EQ(hash_of_numbers({}), 0U);
    EXPECT_EQ(hash_of_numbers({1, 2, 3}), 0x08A2'AC00'04E2'3340U);
    EXPECT_NE(hash_of_numbers({1, 2, 3}), hash_of_numbers({3, 2, 1}));
}

}  // namespace
}  // namespace live
