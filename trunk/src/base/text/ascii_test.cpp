#include "base/text/ascii.hpp"

#include <gtest/gtest.h>

namespace live::ascii {
namespace {

TEST(Ascii, ConvertsAsciiLettersOnly) {
    EXPECT_EQ(lowered("AZaz09@[`{\xC3\x84"), "azaz09@[`{\xC3\x84");
    std::size_t count = 0;
    for (int code = 0; code < 256; ++code)
        count += is_alphanumeric(static_cast<char>(code)) ? 1 : 0;
    EXPECT_EQ(count, 62U);
    for (const char outside : {'/', ':', '@', '[', '`', '{'})
        EXPECT_FALSE(is_alphanumeric(outside)) << outside;
}

TEST(Ascii, ComparesWithoutRegardToCase) {
    EXPECT_TRUE(are_same("Content-TYPE", "content-type"));
    EXPECT_TRUE(are_same("", ""));
    EXPECT_FALSE(are_same("a", "ab"));
    EXPECT_FALSE(are_same("[", "{"));
}

TEST(Ascii, TrimsBothEndsOnly) {
    EXPECT_EQ(trimmed(" \ta b\t ", " \t"), "a b");
    EXPECT_EQ(trimmed("//a/b/", "/"), "a/b");
    EXPECT_EQ(trimmed("a", " "), "a");
    EXPECT_EQ(trimmed(" \t", " \t"), "");
    EXPECT_EQ(trimmed("", " "), "");
}

}  // namespace
}  // namespace live::ascii
