#include "wire/webvtt/webvtt_vectors.hpp"

#include <gtest/gtest.h>

namespace live::wire::webvtt {
namespace {

TEST(WebVtt, ReadsCues) {
    for (const WebVttVector& one : webvtt_vectors()) {
        const auto cues = parse_webvtt(one.text);
        ASSERT_TRUE(cues.ok()) << one.name;
        EXPECT_EQ(*cues, one.cues) << one.name;
    }
}

TEST(WebVtt, TruncatedTextsHaveNoMoreCues) {
    for (const WebVttVector& one : webvtt_vectors())
        for (std::size_t size = 0; size < one.text.size(); ++size) {
            const std::vector<char> cut(one.text.begin(), one.text.begin() + static_cast<std::ptrdiff_t>(size));
            const auto cues = parse_webvtt({cut.data(), cut.size()});
            EXPECT_TRUE(!cues.ok() || cues->size() <= one.cues.size()) << one.name << size;
        }
}

TEST(WebVtt, RefusesOtherTexts) {
    for (const char* const text : {"", "WEBVT", "WEBVTTX\n", "webvtt\n", "\n\nWEBVTT\n", "1\n00:00:00,000 --> 00:00:01,000\nx\n"})
        EXPECT_EQ(parse_webvtt(text).code(), Errc::malformed) << text;
}

TEST(WebVtt, HasABoundForCues) {
    std::string text = "WEBVTT\n";
    for (std::size_t i = 0; i < kCuesMax; ++i)
        text += "\n00:00.000 --> 00:01.000\nx\n";
    EXPECT_EQ(parse_webvtt(text)->size(), kCuesMax);
    EXPECT_EQ(parse_webvtt(text + "\n00:00.000 --> 00:01.000\nx\n").code(), Errc::limit);
}

TEST(WebVtt, WritesSegmentsThatCanBeRead) {
    const std::vector<Cue> cues = {{1s, 2'500ms, "a --> b\nWEBVTT & <c>"}, {100h, 100h + 1s, "d"}};
    const std::string text = write_segment(1s, 90'000, cues);
    EXPECT_TRUE(text.starts_with("WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:90000,LOCAL:00:00:01.000\n\n")) << text;
    EXPECT_NE(text.find("\n00:00:01.000 --> 00:00:02.500\na --&gt; b\nWEBVTT &amp; &lt;c&gt;\n"), std::string::npos) << text;
    EXPECT_EQ(*parse_webvtt(text), cues);
}

TEST(WebVtt, LinesHaveNothingThatEndsACue) {
    EXPECT_EQ(lines_of(std::string_view("a\r\n\r\n \nb\0c\rd", 12)), "a\nbc\nd");
    EXPECT_EQ(lines_of(" \n"), "");
    EXPECT_EQ(lines_of(std::string_view("a \0\0", 4)), "a") << "found by the fuzzer";
}

}  // namespace
}  // namespace live::wire::webvtt
