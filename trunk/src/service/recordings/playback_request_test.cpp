#include "service/recordings/playback_request.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace live::service::recordings {
namespace {

using Format = PlaybackRequest::Format;

Result<PlaybackRequest> parse(std::string_view query) { return PlaybackRequest::parse(MUST(wire::http::Query::parse(query))); }

TEST(PlaybackRequest, ReadsPathTimesAndFormat) {
    const auto request = MUST(parse("path=live%2Fcam&start=2026-11-29T14%3A00%3A00.5%2B01%3A00&duration=5.25&format=mp4"));
    EXPECT_EQ(request.app, "live");
    EXPECT_EQ(request.stream, "cam");
    ASSERT_TRUE(request.start && request.duration);
    EXPECT_EQ(wall_time_text(*request.start), "2026-11-29T13:00:00.500000Z");
    EXPECT_EQ(*request.duration, 5'250ms);
    EXPECT_EQ(request.format, Format::mp4);
    const auto other = MUST(parse("path=/a/b/cam&duration=5s"));
    EXPECT_EQ(other.app, "a/b");
    EXPECT_EQ(other.format, Format::fmp4);
    EXPECT_EQ(*other.duration, 5s);
    EXPECT_FALSE(other.start);
}

TEST(PlaybackRequest, RefusesOthersWithASentence) {
    for (const char* query : {"",
                              "path=cam",
                              "path=/cam",
                              "path=live/",
                              "path=live/..",
                              "path=../../etc/passwd",
                              "path=live/%00",
                              "path=live/cam&start=yesterday",
                              "path=live/cam&duration=0",
                              "path=live/cam&duration=-1",
                              "path=live/cam&duration=nan",
                              "path=live/cam&duration=1e300",
                              "path=live/cam&duration=5x",
                              "path=live/cam&format=flv",
                              "path=live/cam&end=1",
                              "path=live/cam&start=-1e300",
                              "path=live/cam&start=-1x",
                              "path=live/cam&format=init",
                              "path=live/cam&start=2026-11-29T14:00:00Z&format=segment",
                              "path=live/cam&start=2026-11-29T14:00:00Z&format=segment&offset=-1&bytes=1&at=0",
                              "path=live/cam&start=2026-11-29T14:00:00Z&format=segment&offset=1&bytes=1&at=9223372036854775807"})
        EXPECT_EQ(parse(query).code(), Errc::malformed) << query;
    EXPECT_TRUE(parse("path=live/cam&duration=315360000").ok());
    EXPECT_FALSE(parse("path=live/cam&duration=315360001").ok());
}

TEST(PlaybackRequest, ReadsTimesBeforeNowAndPartsOfFiles) {
    const WallTime now(std::chrono::seconds(1'764'000'000));
    EXPECT_EQ(MUST(parse("path=live/cam&start=-90.5&format=hls")).start_at(now), now - 90'500ms);
    const auto part = MUST(parse("path=live/cam&start=2026-11-29T14:00:00Z&format=segment&offset=7&bytes=9&at=-40000"));
    EXPECT_EQ(part.format, Format::segment);
    EXPECT_EQ(part.segment.offset, 7u);
    EXPECT_EQ(part.segment.bytes, 9u);
    EXPECT_EQ(part.segment.at, -40ms);
    const auto shifted = MUST(PlaybackRequest::parse_timeshift("/a/b/cam.m3u8", MUST(wire::http::Query::parse("start=-60"))));
    EXPECT_EQ(shifted.app, "a/b");
    EXPECT_EQ(shifted.stream, "cam");
    EXPECT_EQ(shifted.format, Format::media);
    EXPECT_EQ(*shifted.ago, 60s);
    const auto text = MUST(
        PlaybackRequest::parse_timeshift("/a/cam.m3u8", MUST(wire::http::Query::parse("start=-60&format=text&language=EN-gb"))));
    EXPECT_EQ(text.format, Format::text);
    EXPECT_EQ(text.language, "en-gb");
    const auto cues =
        MUST(parse("path=live/cam&start=2026-11-29T14:00:00Z&format=cues&language=a%22b&offset=7&bytes=9&at=-40000"));
    EXPECT_EQ(cues.format, Format::cues);
    EXPECT_EQ(cues.segment.offset, 7u);
    EXPECT_EQ(cues.language, "") << "it is not a tag";
    EXPECT_FALSE(parse("path=live/cam&start=2026-11-29T14:00:00Z&format=cues&language=en").ok());
    EXPECT_FALSE(parse("path=live/cam&format=cues&offset=7&bytes=9&at=0").ok());
    EXPECT_FALSE(PlaybackRequest::parse_timeshift("/cam.m3u8", MUST(wire::http::Query::parse("start=-60"))).ok());
    EXPECT_FALSE(PlaybackRequest::parse_timeshift("/live/cam.m3u8", MUST(wire::http::Query::parse("start=x"))).ok());
}

TEST(ListText, IsAnArrayInAnyPortions) {
    std::vector<RecordedSpan> spans;
    for (int i = 0; i < 3; ++i)
        spans.push_back({.start = WallTime(std::chrono::seconds(1'764'417'600 + i * 60)), .duration = 30'250ms});
    const std::string url = "http://127.0.0.1:9996/get?path=live%2Fcam";
    std::string text;
    for (std::size_t i = 0; i < 3; ++i)
        text += list_text(spans, i, 1, url);
    EXPECT_EQ(text, list_text(spans, 0, 3, url));
    const auto list = nlohmann::json::parse(text);
    ASSERT_EQ(list.size(), 3u);
    EXPECT_EQ(list[1]["start"], "2025-11-29T12:01:00.000000Z");
    EXPECT_EQ(list[1]["duration"], 30.25);
    EXPECT_EQ(list[1]["url"], url + "&start=2025-11-29T12%3A01%3A00.000000Z&duration=30.250000");
    EXPECT_EQ(nlohmann::json::parse(error_text("none"))["error"], "none");
}

}  // namespace
}  // namespace live::service::recordings
