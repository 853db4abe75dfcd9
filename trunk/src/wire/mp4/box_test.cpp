#include "wire/mp4/box.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::mp4 {
namespace {

TEST(Box, WritesItsSizeAtTheEnd) {
    ByteWriter out;
    out.u8(0xEE);
    {
        const Box outer(out, "moov");
        {
            const Box inner(out, "abcd", 1, 0x020304);
            out.u8(0x55);
        }
        const Box empty(out, "free");
    }
    EXPECT_EQ(out.release(), hex("ee 0000001d 6d6f6f76 0000000d 61626364 01020304 55 00000008 66726565"));
}

}  // namespace
}  // namespace live::wire::mp4
