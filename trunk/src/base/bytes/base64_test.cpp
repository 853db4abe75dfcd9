#include "base/bytes/base64.hpp"

#include <string>

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

TEST(Base64Url, EncodesWithoutPaddingAndReadsItBack) {
    EXPECT_EQ(base64url(as_bytes("\xff\xfe\xfd\xfc")), "__79_A");
    for (const std::string_view text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
        const auto read = parse_base64url(base64url(as_bytes(text)));
        ASSERT_TRUE(read.ok()) << text;
        EXPECT_EQ(as_text(*read), text);
    }
}

TEST(Base64Url, RefusesEverySecondFormOfAText) {
    for (const std::string_view text : {"A", "Zg==", "Zh", "Zm9", "+/79", "Zm 9", "Zm9vY"})
        EXPECT_FALSE(parse_base64url(text).ok()) << text;
}

TEST(Base64, DecodesItsOwnOutputWithAndWithoutPadding) {
    std::string text;
    for (int i = 0; i < 70; ++i) {
        const std::string encoded = base64(as_bytes(text));
        const auto decoded = bytes_of_base64(encoded);
        ASSERT_TRUE(decoded);
        EXPECT_EQ(as_text(*decoded), text);
        EXPECT_EQ(bytes_of_base64(encoded.substr(0, encoded.find('='))), decoded);
        text += static_cast<char>(i * 37);
    }
}

TEST(Base64, RefusesOtherLettersAndHalfBytes) {
    EXPECT_FALSE(bytes_of_base64("Zm9v!"));
    EXPECT_FALSE(bytes_of_base64("Z=m9"));
    EXPECT_FALSE(bytes_of_base64("Zm9vY"));
    EXPECT_FALSE(bytes_of_base64("Zm9v YmFy"));
}

}  // namespace
}  // namespace live
