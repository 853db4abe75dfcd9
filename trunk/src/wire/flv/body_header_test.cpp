#include "wire/flv/body_header.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::flv {
namespace {

TEST(BodyHeader, IsBigEndian) {
    BodyHeader header;
    EXPECT_TRUE(header.view().empty());
    header.u8(0x91).u32be(0x68766331).u24be(0x000028);
    EXPECT_TRUE(std::ranges::equal(header.view(), hex("91 68766331 000028")));
    EXPECT_EQ(header.size(), 8U);
}

TEST(BodyHeaderDeathTest, AbortsAboveMaximumSize) {
    BodyHeader header;
    for (std::size_t i = 0; i < BodyHeader::kBytesMax; ++i)
        header.u8(7);
    EXPECT_EQ(header.view().size(), BodyHeader::kBytesMax);
    EXPECT_DEATH(header.u8(7), "");
}

}  // namespace
}  // namespace live::wire::flv
