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

TEST(Ascii, FindsTheFirstControlCharacter) {
    EXPECT_EQ(find_control(""), 0U);
    // Every byte, at every position of a word, between letters that are close to it.
    for (int byte = 0; byte < 256; ++byte)
        for (std::size_t at = 0; at < 20; ++at)
            for (const char filler : {'\x20', '\x7E', '\x80', '\xFF'}) {
                std::string text(20, filler);
                text[at] = static_cast<char>(byte);
                EXPECT_EQ(find_control(text), byte < 0x20 || byte == 0x7F ? at : text.size()) << byte << " at " << at;
                EXPECT_EQ(find_control(text, 20), 20U);
            }
    EXPECT_EQ(find_control("a\tb\x7F", 2), 3U);
}

}  // namespace
}  // namespace live::ascii
