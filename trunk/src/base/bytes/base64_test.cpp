#include "base/bytes/base64.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

// RFC 4648, section 10.
TEST(Base64, EncodesTheVectorsOfTheText) {
    EXPECT_EQ(base64(as_bytes("")), "");
    EXPECT_EQ(base64(as_bytes("f")), "Zg==");
    EXPECT_EQ(base64(as_bytes("fo")), "Zm8=");
    EXPECT_EQ(base64(as_bytes("foo")), "Zm9v");
    EXPECT_EQ(base64(as_bytes("foob")), "Zm9vYg==");
    EXPECT_EQ(base64(as_bytes("fooba")), "Zm9vYmE=");
    EXPECT_EQ(base64(as_bytes("foobar")), "Zm9vYmFy");
    EXPECT_EQ(base64(as_bytes("\xff\xfe\xfd")), "//79");
}

}  // namespace
}  // namespace live
