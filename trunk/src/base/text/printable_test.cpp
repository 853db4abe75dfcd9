#include "base/text/printable.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(Printable, ReplacesTerminalControls) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"a\x1b[31m\n\x7f", "a?[31m??"},
        {"\xC2\x80\xC2\x9B\xC2\x9F", "???"},
        {"\x9B \xE0\x82\x9B \xF0\x80\x82\x9B \xC0\x9B", "? ? ? ?"},
        {"a\xE2\x80\xA8"
         "b\xE2\x80\xA9",
         "a?b?"},
        {"\xE2\x80\xAAx\xE2\x80\xAE\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "?x????"},
        {"\xE2\x81\xA6\xE2\x81\xA9", "??"},
        {"\xE2\x80\xA7\xE2\x80\xAF\xE2\x81\xA5\xD8\x9B", "\xE2\x80\xA7\xE2\x80\xAF\xE2\x81\xA5\xD8\x9B"},
        {"\xC2\xA0 caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8E\xA5", "\xC2\xA0 caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8E\xA5"},
        {"\xE2\x80", "\xE2?"},
    };
    for (const auto& [said, shown] : cases)
        EXPECT_EQ(printable(said), shown) << shown;
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, JsonEscapesTheSameCharacters) {
    EXPECT_EQ(escape_controls(R"({"a":"plain"})"), R"({"a":"plain"})");
    EXPECT_EQ(escape_controls("\"\x7F\xC2\x85\xC2\x9B\xE2\x80\xA8\xE2\x80\xAE\xD8\x9C\xE2\x81\xA6\""),
              R"("\u007f\u0085\u009b\u2028\u202e\u061c\u2066")");
    EXPECT_EQ(escape_controls("\xC2\xA0 \xD8\x9B \xE2\x82\xAC \xF0\x9F\x8E\xA5"),
              "\xC2\xA0 \xD8\x9B \xE2\x82\xAC \xF0\x9F\x8E\xA5");
}

TEST(Printable, AcceptsValidUtf8WithoutControls) {
    for (const char* text :
         {"", "cam", "\xC3\xA9", "\xD0\xBA\xD0\xB0\xD0\xBC", "\xE6\x97\xA5\xE6\x9C\xAC", "\xF0\x9F\x8E\xA5", "\xF4\x8F\xBF\xBF"})
        EXPECT_TRUE(is_printable_utf8(text)) << text;
    for (const char* text :
         {"\n", "\x7F", "\xC2\x85", "\xE2\x80\xAE", "\xE2\x80\xA8", "\xD8\x9C", "\xFF", "\xC3", "a\xC3z", "\xA9", "\xC0\xAF",
          "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x80\x80\xAF", "\xE6\x97"})
        EXPECT_FALSE(is_printable_utf8(text)) << printable(text);
}

}  // namespace
}  // namespace live
