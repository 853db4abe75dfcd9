#include "wire/hls/playlist.hpp"

#include <gtest/gtest.h>

#include "wire/hls/playlist_reader.hpp"
#include "wire/hls/playlist_vectors.hpp"

namespace live::wire::hls {
namespace {

TEST(HlsPlaylist, IsWrittenToTheLetter) {
    for (const PlaylistVector& vector : playlist_vectors())
        EXPECT_EQ(write_media_playlist(vector.playlist), vector.text) << vector.name;
}

TEST(HlsPlaylist, TargetDurationIsRoundedUp) {
    MediaPlaylist playlist;
    playlist.target_duration = 4'001ms;
    EXPECT_NE(write_media_playlist(playlist).find("TARGETDURATION:5\n"), std::string::npos);
}

TEST(HlsPlaylist, IsReadAsItWasWritten) {
    for (const PlaylistVector& vector : playlist_vectors()) {
        if (!vector.is_read_back)
            continue;
        const auto read = parse_media_playlist(vector.text);
        ASSERT_TRUE(read.ok()) << vector.name << ": " << read.error().text();
        EXPECT_EQ(*read, vector.playlist) << vector.name;
    }
}

// A truncated list gives a shorter list or an error, never a different list.
TEST(HlsPlaylist, EveryTruncationIsABeginning) {
    for (const PlaylistVector& vector : playlist_vectors()) {
        const auto whole = parse_media_playlist(vector.text);
        ASSERT_TRUE(whole.ok());
        for (std::size_t size = 0; size < vector.text.size(); ++size) {
            const auto read = parse_media_playlist(vector.text.substr(0, size));
            if (!read.ok())
                continue;
            ASSERT_LE(read->segments.size(), whole->segments.size());
            for (std::size_t i = 0; i < read->segments.size(); ++i)
                EXPECT_EQ(read->segments[i], whole->segments[i]) << vector.name << " cut at " << size;
        }
    }
}

TEST(HlsPlaylist, RefusesInvalidInput) {
    struct Case {
        std::string_view text;
        Errc code;
    };
    for (const Case& bad :
         {Case{"", Errc::malformed}, Case{"#EXTINF:1,\na.ts\n", Errc::malformed}, Case{"#EXTM3U\na.ts\n", Errc::malformed},
          Case{"#EXTM3U\n#EXTINF:-1,\na.ts\n", Errc::malformed}, Case{"#EXTM3U\n#EXTINF:nan,\na.ts\n", Errc::malformed},
          Case{"#EXTM3U\n#EXTINF:86401,\na.ts\n", Errc::malformed}, Case{"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:x\n", Errc::malformed},
          Case{"#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x00\n", Errc::malformed},
          Case{"#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=00\n", Errc::malformed},
          Case{"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n", Errc::malformed},
          Case{"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n#EXTINF:1,\na.ts\n", Errc::malformed},
          Case{"#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x000000000000000000000000000000zz\n", Errc::malformed}}) {
        const auto read = parse_media_playlist(bad.text);
        ASSERT_FALSE(read.ok()) << bad.text;
        EXPECT_EQ(read.code(), bad.code) << bad.text;
    }
}

TEST(HlsPlaylist, CarriageReturnsAndUnknownTagsArePassedOver) {
    const auto read = parse_media_playlist("#EXTM3U\r\n#EXT-X-NEW:1\r\n# words\r\n\r\n#EXTINF:2.5,\r\na.ts\r\n");
    ASSERT_TRUE(read.ok());
    ASSERT_EQ(read->segments.size(), 1U);
    EXPECT_EQ(read->segments[0], plain_segment("a.ts", 2'500ms));
}

TEST(HlsPlaylist, CarriageReturnsAreNoPartOfAName) {
    const auto read = parse_media_playlist("#EXTM3U\n#EXTINF:2.5\na.ts\r\r\n");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->segments[0], plain_segment("a.ts", 2'500ms));
}

TEST(HlsPlaylist, AKeyWithoutAnIvTakesTheNumbersOfItsSegments) {
    const auto read = parse_media_playlist(
        "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:258\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXTINF:1,\na\n#EXTINF:1,\nb\n");
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->segments[0].key, (Key{"k", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}}));
    EXPECT_EQ(read->segments[1].key, (Key{"k", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3}}));
}

TEST(HlsPlaylist, ReadsMasterVariantsAndTheEnd) {
    const auto master = parse_playlist(
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1\n/live/cam.m3u8?hls_ctx=abc\n"
        "#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh.m3u8\n");
    ASSERT_TRUE(master.ok()) << master.error().text();
    EXPECT_EQ(master->variants, (std::vector<std::string>{"/live/cam.m3u8?hls_ctx=abc", "high.m3u8"}));
    EXPECT_FALSE(master->is_ended);
    const auto ended = parse_playlist("#EXTM3U\n#EXTINF:2.002\nhttp://other/0.ts?key=1\n#EXT-X-ENDLIST\n");
    ASSERT_TRUE(ended.ok()) << ended.error().text();
    EXPECT_TRUE(ended->is_ended);
    EXPECT_EQ(ended->media.segments[0], plain_segment("http://other/0.ts?key=1", 2'002ms));
    EXPECT_TRUE(ended->variants.empty());
}

TEST(HlsPlaylist, HasABoundForVariants) {
    std::string text = "#EXTM3U\n";
    for (std::size_t i = 0; i < kPlaylistVariantsMax; ++i)
        text += "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n";
    EXPECT_TRUE(parse_playlist(text).ok());
    const auto more = parse_playlist(text + "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n");
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.code(), Errc::limit);
}

TEST(HlsPlaylist, HasABoundForSegmentsAndBytes) {
    std::string text = "#EXTM3U\n";
    for (std::size_t i = 0; i < kPlaylistSegmentsMax; ++i)
        text += "#EXTINF:1,\na\n";
    EXPECT_TRUE(parse_media_playlist(text).ok());
    const auto more = parse_media_playlist(text + "#EXTINF:1,\na\n");
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.code(), Errc::limit);
    const auto big = parse_media_playlist(std::string(kPlaylistBytesMax + 1, '\n'));
    ASSERT_FALSE(big.ok());
    EXPECT_EQ(big.code(), Errc::limit);
}

TEST(HlsPlaylist, LimitsTheMemoryPerSegment) {
    for (const std::string tag : {"#EXT-X-KEY:METHOD=AES-128,URI=", "#EXT-X-MAP:URI="}) {
        const auto with = [&](std::size_t bytes) {
            return parse_media_playlist("#EXTM3U\n" + tag + '"' + std::string(bytes, 'k') + "\"\n#EXTINF:1,\na\n");
        };
        EXPECT_TRUE(with(kPlaylistUriBytesMax).ok()) << tag;
        EXPECT_EQ(with(kPlaylistUriBytesMax + 1).code(), Errc::limit) << tag;
    }
}

TEST(HlsPlaylist, AKeysNameHasItsQuotes) {
    const auto read = parse_media_playlist("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=a\"b\n#EXTINF:1,\na\n");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->segments[0].key->uri, "");
}

TEST(HlsMasterPlaylist, UnknownStreamHasBandwidthOne) {
    EXPECT_EQ(write_master_playlist({{.uri = "/live/cam.m3u8?hls_ctx=12345678", .codecs = {}}}),
              "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1\n/live/cam.m3u8?hls_ctx=12345678\n");
}

TEST(HlsMasterPlaylist, ListsKnownAttributes) {
    EXPECT_EQ(write_master_playlist({{"cam.m3u8", 1'200'000, 900'000, "avc1.640028,mp4a.40.2", 1920, 1080, 29.97}}),
              "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1200000,AVERAGE-BANDWIDTH=900000,CODECS=\"avc1.640028,mp4a.40.2\","
              "RESOLUTION=1920x1080,FRAME-RATE=29.970\ncam.m3u8\n");
}

TEST(HlsMasterPlaylist, NamesTheAudioThatVariantsArePlayedWith) {
    Variant variant;
    variant.uri = "v.m3u8";
    variant.audio_group = "a";
    const std::vector<Rendition> audio = {{"en.m3u8", "a", "English", "en", true}, {"x.m3u8", "a", "say \"x\"\n", "", false}};
    EXPECT_EQ(
        write_master_playlist({variant}, audio),
        "#EXTM3U\n"
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,AUTOSELECT=YES,URI=\"en.m3u8\"\n"
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"say x\",DEFAULT=NO,AUTOSELECT=YES,URI=\"x.m3u8\"\n"
        "#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1,AUDIO=\"a\"\nv.m3u8\n");
}

TEST(HlsMasterPlaylist, AnnouncesClosedCaptionsOnEachVariant) {
    Variant variant;
    variant.uri = "v.m3u8";
    EXPECT_EQ(write_master_playlist({variant}, {}, ClosedCaptions()),
              "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1,CLOSED-CAPTIONS=NONE\nv.m3u8\n");
    EXPECT_EQ(
        write_master_playlist({variant, variant}, {}, ClosedCaptions{"CC1", "SERVICE2"}),
        "#EXTM3U\n"
        "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"cc\",NAME=\"CC1\",DEFAULT=YES,AUTOSELECT=YES,INSTREAM-ID=\"CC1\"\n"
        "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"cc\",NAME=\"SERVICE2\",DEFAULT=NO,AUTOSELECT=NO,INSTREAM-ID=\"SERVICE2\"\n"
        "#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1,CLOSED-CAPTIONS=\"cc\"\nv.m3u8\n"
        "#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1,CLOSED-CAPTIONS=\"cc\"\nv.m3u8\n");
}

TEST(HlsMasterPlaylist, ListsSubtitles) {
    Variant variant;
    variant.uri = "v.m3u8";
    EXPECT_EQ(
        write_master_playlist({variant}, {}, {}, {{"en.m3u8", "subs", "en", "en", false}}),
        "#EXTM3U\n"
        "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"subs\",NAME=\"en\",LANGUAGE=\"en\",DEFAULT=NO,AUTOSELECT=YES,URI=\"en.m3u8\"\n"
        "#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1,SUBTITLES=\"subs\"\nv.m3u8\n");
}

// RFC 8216, 4.3.2.4: a key before a map applies to the map too, and our maps are not encrypted.
TEST(HlsPlaylist, MapsAreNotEncrypted) {
    MediaPlaylist playlist;
    playlist.target_duration = 1s;
    for (const char* map : {"init.mp4", "init.mp4", "init-1.mp4"}) {
        Segment& segment = playlist.segments.emplace_back();
        segment.uri = "a.m4s";
        segment.duration = 1s;
        segment.key = Key{"k", {}};
        segment.map = map;
    }
    const std::string text = write_media_playlist(playlist);
    const std::string key = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x00000000000000000000000000000000\n";
    const std::string entry = "#EXTINF:1.000, no desc\na.m4s\n";
    EXPECT_TRUE(text.ends_with("#EXT-X-MAP:URI=\"init.mp4\"\n" + key + entry + entry +
                               "#EXT-X-KEY:METHOD=NONE\n#EXT-X-MAP:URI=\"init-1.mp4\"\n" + key + entry))
        << text;
    const auto read = parse_media_playlist(text);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->segments, playlist.segments);
}

}  // namespace
}  // namespace live::wire::hls
