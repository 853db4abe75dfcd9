#include "wire/stun/crc32.hpp"

#include <gtest/gtest.h>

namespace live::wire::stun {
namespace {

TEST(StunCrc32, GivesTheCheckValueOfItsFamily) {
    EXPECT_EQ(crc32(as_bytes("123456789")), 0xCBF43926U);
    EXPECT_EQ(crc32({}), 0U);
}

}  // namespace
}  // namespace live::wire::stun
