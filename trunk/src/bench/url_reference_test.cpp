#include "bench/playlist.hpp"

#include <string>

#include <gtest/gtest.h>

namespace live::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kLive =
    "#EXTM3U\r\n#EXT-X-VERSION:3\r\n#EXT-X-TARGETDURATION:10\r\n#EXT-X-MEDIA-SEQUENCE:7\r\n\r\n#EXTINF:9.84, title\r\ns-7.ts\r\n"
    "#EXT-X-DISCONTINUITY\r\n#EXTINF:10\r\nhttp://other/s-8.ts?key=1\r\n";

TEST(Playlist, SegmentsHaveNumbersDurationsAndUris) {
    const auto playlist = parse_playlist(kLive);
    ASSERT_TRUE(playlist.ok()) << playlist.error().text();
    EXPECT_EQ(playlist->target_duration, milliseconds(10'000));
    EXPECT_FALSE(playlist->is_ended);
    ASSERT_EQ(playlist->segments.size(), 2U);
    EXPECT_EQ(playlist->segments[0], (Segment{7, milliseconds(9'840), "s-7.ts"}));
    EXPECT_EQ(playlist->segments[1], (Segment{8, milliseconds(10'000), "http://other/s-8.ts?key=1"}));
    EXPECT_TRUE(playlist->variants.empty());
}

TEST(Playlist, VariantsAreFollowed) {
    const auto playlist = parse_playlist(
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1\n/live/livestream.m3u8?hls_ctx=abc\n"
        "#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh.m3u8\n");
    ASSERT_TRUE(playlist.ok());
    EXPECT_EQ(playlist->variants, (std::vector<std::string>{"/live/livestream.m3u8?hls_ctx=abc", "high.m3u8"}));
}

TEST(Playlist, AnEndAndAMapAreSeen) {
    const auto playlist = parse_playlist(
        "\xEF\xBB\xBF#EXTM3U\n#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"1@0\"\n#EXTINF:2.002,\n0.m4s\n#EXT-X-ENDLIST");
    ASSERT_TRUE(playlist.ok());
    EXPECT_TRUE(playlist->is_ended);
    EXPECT_EQ(playlist->map, "init.mp4");
    EXPECT_EQ(playlist->segments[0].duration, milliseconds(2'002));
}

TEST(Playlist, ATruncatedOneHasNoMoreThanTheWhole) {
    const auto whole = parse_playlist(kLive);
    for (std::size_t size = 0; size < kLive.size(); ++size) {
        const auto part = parse_playlist(kLive.substr(0, size));
        if (part.ok()) {
            EXPECT_LE(part->segments.size(), whole->segments.size());
        } else {
            // Before its first line is whole, or within a number.
            EXPECT_EQ(part.code(), Errc::malformed);
        }
    }
}

TEST(Playlist, RefusesWhatIsNone) {
    EXPECT_EQ(parse_playlist("").code(), Errc::malformed);
    EXPECT_EQ(parse_playlist("<html>").code(), Errc::malformed);
    EXPECT_EQ(parse_playlist("#EXTM3U\n#EXTINF:ten,\na.ts\n").code(), Errc::malformed);
    EXPECT_EQ(parse_playlist("#EXTM3U\n#EXTINF:-1,\na.ts\n").code(), Errc::malformed);
    EXPECT_EQ(parse_playlist("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:x\n").code(), Errc::malformed);
    EXPECT_EQ(parse_playlist("#EXTM3U\n#EXTINF:nan,\na.ts\n").code(), Errc::malformed);
}

TEST(Playlist, HasBounds) {
    const auto with_segments = [](std::size_t count) {
        std::string text = "#EXTM3U\n";
        for (std::size_t i = 0; i < count; ++i)
            text += "#EXTINF:1,\na\n";
        return text;
    };
    EXPECT_TRUE(parse_playlist(with_segments(Playlist::kSegmentsMax)).ok());
    EXPECT_EQ(parse_playlist(with_segments(Playlist::kSegmentsMax + 1)).code(), Errc::limit);
    const auto with_variants = [](std::size_t count) {
        std::string text = "#EXTM3U\n";
        for (std::size_t i = 0; i < count; ++i)
            text += "#EXT-X-STREAM-INF:B=1\na\n";
        return text;
    };
    EXPECT_TRUE(parse_playlist(with_variants(Playlist::kVariantsMax)).ok());
    EXPECT_EQ(parse_playlist(with_variants(Playlist::kVariantsMax + 1)).code(), Errc::limit);
    EXPECT_TRUE(parse_playlist("#EXTM3U\n#EXTINF:1,\n" + std::string(Playlist::kUriBytesMax, 'a')).ok());
    EXPECT_EQ(parse_playlist("#EXTM3U\n#EXTINF:1,\n" + std::string(Playlist::kUriBytesMax + 1, 'a')).code(), Errc::limit);
    std::string long_text = "#EXTM3U\n#";
    long_text.resize(Playlist::kBytesMax, 'x');
    EXPECT_TRUE(parse_playlist(long_text).ok());
    EXPECT_EQ(parse_playlist(long_text + "x").code(), Errc::limit);
}

TEST(ResolveReference, MeansWhatAReferenceSays) {
    const std::string_view base = "http://h:8080/live/a/index.m3u8?hls_ctx=1";
    EXPECT_EQ(resolve_reference(base, "s-1.ts"), "http://h:8080/live/a/s-1.ts");
    EXPECT_EQ(resolve_reference(base, "s-1.ts?x=/y"), "http://h:8080/live/a/s-1.ts?x=/y");
    EXPECT_EQ(resolve_reference(base, "/s-1.ts"), "http://h:8080/s-1.ts");
    EXPECT_EQ(resolve_reference(base, "//other/s"), "http://other/s");
    EXPECT_EQ(resolve_reference(base, "https://other/s"), "https://other/s");
    EXPECT_EQ(resolve_reference(base, "../b/./s-1.ts"), "http://h:8080/live/b/s-1.ts");
    EXPECT_EQ(resolve_reference(base, "../../../../s"), "http://h:8080/s");
    EXPECT_EQ(resolve_reference(base, ".."), "http://h:8080/live/");
    EXPECT_EQ(resolve_reference(base, "?hls_ctx=2"), "http://h:8080/live/a/index.m3u8?hls_ctx=2");
    EXPECT_EQ(resolve_reference(base, ""), base);
    EXPECT_EQ(resolve_reference("http://h", "s"), "http://h/s");
    EXPECT_EQ(resolve_reference("http://h?x", "s"), "http://h/s");
}

}  // namespace
}  // namespace live::bench
