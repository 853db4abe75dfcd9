#include "engine/websocket/utf8.hpp"

#include <string>

#include <gtest/gtest.h>

namespace live::engine::websocket {
namespace {

// An independent implementation of the RFC 3629 rules: decode, then check.
bool decodes(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
        const std::size_t size = byte(0) < 0x80 ? 1 : byte(0) >> 5 == 6 ? 2 : byte(0) >> 4 == 14 ? 3 : byte(0) >> 3 == 30 ? 4 : 0;
        if (size == 0 || at + size > text.size())
            return false;
        unsigned point = size == 1 ? byte(0) : byte(0) & (0x7FU >> size);
        for (std::size_t i = 1; i < size; ++i) {
            if (byte(i) >> 6 != 2)
                return false;
            point = point << 6 | (byte(i) & 0x3F);
        }
        const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (point < least[size] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
            return false;
        at += size;
    }
    return true;
}

TEST(Utf8, AgreesWithADecoderOnEveryShortText) {
    for (unsigned first = 0; first < 256; ++first)
        for (unsigned second = 0; second < 256; ++second)
            for (const char* tail : {"", "\x80", "\xBF", "\x7F", "\x80\x80", "\xBF\xBF", "\x80\xC0", "a"}) {
                std::string text = {static_cast<char>(first), static_cast<char>(second)};
                text += tail;
                ASSERT_EQ(is_utf8(text), decodes(text)) << first << " " << second << " " << tail;
            }
}

TEST(Utf8, RecognisesValidText) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("Hello-\xC2\xB5@\xC3\x9F\xC3\xB6\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"));
    EXPECT_FALSE(is_utf8("\xCE\xBA\xED\xA0\x80")) << "a surrogate";
    EXPECT_FALSE(is_utf8("\xC0\xAF")) << "overlong";
    EXPECT_FALSE(is_utf8("\xE2\x82")) << "cut";
}

}  // namespace
}  // namespace live::engine::websocket
