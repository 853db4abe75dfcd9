#include "service/hls/timed/subtitles.hpp"

#include <gtest/gtest.h>

namespace live::service::hls {
namespace {

media::TimedEvent line(const std::string& text, MediaTime at, MediaTime duration, const std::string& language = "en") {
    return {.kind = media::TimedEvent::Kind::text,
            .at = at,
            .data = Slice::copy_of(as_bytes(text)),
            .duration = duration,
            .language = language};
}

std::vector<std::string> shown(const Subtitles& lines, const std::string& language, MediaTime start, MediaTime duration) {
    std::vector<std::string> texts;
    for (const auto& cue : wire::webvtt::parse_webvtt(lines.segment(language, start, duration, Container::ts)).value())
        texts.push_back(cue.text);
    return texts;
}

TEST(Subtitles, AreInEachSegmentThatShowsThem) {
    Subtitles lines;
    EXPECT_TRUE(lines.add(line("b", 11s, 2s), {}));
    EXPECT_TRUE(lines.add(line("a", 10s, 1s), {}));
    EXPECT_TRUE(lines.add(line("c", 10s, 9s, "de"), {}));
    EXPECT_EQ(lines.languages(), (std::vector<std::string>{"en", "de"}));
    using Texts = std::vector<std::string>;
    EXPECT_EQ(shown(lines, "en", 8s, 2s), Texts());
    EXPECT_EQ(shown(lines, "en", 10s, 2s), (Texts{"a", "b"}));
    EXPECT_EQ(shown(lines, "en", 12s, 2s), Texts{"b"});
    EXPECT_EQ(shown(lines, "en", 13s, 2s), Texts());
    EXPECT_EQ(shown(lines, "de", 18s, 2s), Texts{"c"});
    const auto header = [&](Container video) {
        const std::string text = lines.segment("en", 12'000'500us, 2s, video);
        return text.substr(0, text.find("\n\n"));
    };
    EXPECT_EQ(header(Container::fmp4), "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:1080000,LOCAL:00:00:12.000");
    EXPECT_EQ(header(Container::ts), "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:1089000,LOCAL:00:00:12.000") << "the clock of the video";
}

TEST(Subtitles, FollowThePresentationOfFrames) {
    Subtitles lines;
    EXPECT_TRUE(lines.add(line("a", 10s, 1s), 80ms));
    EXPECT_EQ(shown(lines, "en", 9'920ms, 10ms), std::vector<std::string>{"a"});
    EXPECT_TRUE(shown(lines, "en", 10'920ms, 1s).empty());
}

TEST(Subtitles, AreForgottenAfterTheirEnd) {
    Subtitles lines;
    EXPECT_TRUE(lines.add(line("a", 10s, 2s), {}));
    const std::size_t bytes = lines.bytes();
    lines.forget_before(11s);
    EXPECT_EQ(lines.bytes(), bytes);
    lines.forget_before(12s);
    EXPECT_EQ(lines.bytes(), 0u);
    EXPECT_EQ(lines.languages().size(), 1u);
}

TEST(Subtitles, HaveBounds) {
    Subtitles lines;
    for (std::size_t i = 0; i < Subtitles::kLanguagesMax; ++i)
        EXPECT_TRUE(lines.add(line("a", 1s, 1s, "a" + std::to_string(i)), {}));
    EXPECT_FALSE(lines.add(line("a", 1s, 1s, "b"), {}));
    lines.clear();
    for (std::size_t i = 0; i < Subtitles::kCuesMax; ++i)
        EXPECT_TRUE(lines.add(line("a", 1s, 1s, "a0"), {}));
    EXPECT_FALSE(lines.add(line("a", 1s, 1s, "a0"), {}));
    lines.clear();
    std::size_t added = 0;
    while (lines.add(line(std::string(12'000, 'x'), 1s, 1s, "a0"), {}))
        ++added;
    EXPECT_GT(added, 20u);
    EXPECT_LE(lines.bytes(), Subtitles::kBytesMax);
    EXPECT_FALSE(lines.add(line(" \n", 1s, 1s, "a0"), {}));
    EXPECT_FALSE(lines.add(line("x", 1s, 0s, "a0"), {}));
}

TEST(Subtitles, LanguagesAreFitForFileNames) {
    EXPECT_EQ(language_of("zh-Hant"), "zh-hant");
    for (const char* const tag : {"", "../x", "a/b", "-en", "e n", "e.n"})
        EXPECT_EQ(language_of(tag), "") << tag;
}

}  // namespace
}  // namespace live::service::hls
