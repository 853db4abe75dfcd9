#include "service/hls/files/names.hpp"

#include <gtest/gtest.h>

namespace live::service::hls {
namespace {

const StreamName kCam{"v.example.com", "live", "cam"};
const auto kMoment = std::chrono::system_clock::time_point(std::chrono::seconds(1'715'000'007) + std::chrono::milliseconds(9));

TEST(HlsNames, OfTheDefaultTemplatesAreThoseOfSrs) {
    const HlsOptions options;
    const Names names(options, kCam, Zone::utc);
    EXPECT_EQ(names.playlist_url(), "live/cam.m3u8");
    EXPECT_EQ(names.playlist_file(), "objs/nginx/html/live/cam.m3u8");
    const FileName fragment = names.fragment(12, 3'336ms, kMoment);
    EXPECT_EQ(fragment.file, "objs/nginx/html/live/cam-12.ts");
    EXPECT_EQ(fragment.uri, "cam-12.ts");
    EXPECT_EQ(fragment.text, "live/cam-12.ts");
    EXPECT_EQ(names.reported_path(fragment.text), "./objs/nginx/html/live/cam-12.ts") << "on_hls";
    const FileName part = Names::part(fragment, 3);
    EXPECT_EQ(part.uri, "cam-12.3.ts");
    EXPECT_EQ(part.file, "objs/nginx/html/live/cam-12.3.ts");
}

TEST(HlsNames, ReplaceAllVariables) {
    HlsOptions options;
    options.path = "/data/";
    options.m3u8_file = "[vhost]/[app]/[stream]/list.m3u8";
    options.ts_file = "[vhost]/[app]/[stream]/[2006][01][02]/[15][04][05][999]-[timestamp]-[seq]-[duration].ts";
    const Names names(options, kCam, Zone::utc);
    const FileName fragment = names.fragment(7, 2'040'400us, kMoment);
    EXPECT_EQ(names.reported_path(fragment.text), fragment.file);
    EXPECT_EQ(fragment.file, "/data/v.example.com/live/cam/20240506/125327009-1715000007009-7-2040.ts");
    EXPECT_EQ(fragment.uri, "20240506/125327009-1715000007009-7-2040.ts");
}

TEST(HlsNames, ClaimOnlyFilesOfTheirContainers) {
    HlsOptions options;
    const auto count = [&](Fmp4 use) {
        options.use_fmp4 = use;
        return Names(options, kCam, Zone::utc).claimed_paths().size();
    };
    EXPECT_EQ(count(Fmp4::by_codec), 4U) << "the playlist, fragments of both, the init segment";
    EXPECT_EQ(count(Fmp4::on), 3U);
    EXPECT_EQ(count(Fmp4::off), 2U);
}

TEST(HlsNames, MayHaveATimestamp) {
    HlsOptions options;
    options.fragment = 10s;
    options.ts_floor = true;
    options.ts_file = "[stream]-[timestamp].ts";
    EXPECT_EQ(Names(options, kCam, Zone::utc).fragment(0, 10s, kMoment).text, "cam-171500000.ts");
}

TEST(HlsNames, HaveThePrefixBeforeTheFolder) {
    HlsOptions options;
    options.entry_prefix = "https://cdn.example.com/x";
    const Names names(options, kCam, Zone::utc);
    const FileName fragment = names.fragment(1, 2s, kMoment);
    EXPECT_EQ(fragment.uri, "https://cdn.example.com/x/live/cam-1.ts");
    EXPECT_EQ(names.file_of(fragment.uri), fragment.file);
    EXPECT_EQ(names.file_of("http://elsewhere/live/cam-1.ts"), std::nullopt);
}

TEST(HlsNames, FindTheFileOfAListEntry) {
    HlsOptions options;
    options.ts_file = "[app]/seg/[stream]-[seq].ts";
    const Names names(options, kCam, Zone::utc);
    const FileName fragment = names.fragment(1, 2s, kMoment);
    EXPECT_EQ(fragment.uri, "seg/cam-1.ts");
    EXPECT_EQ(names.file_of(fragment.uri), fragment.file);
    EXPECT_EQ(names.file_of(fragment.uri + "?a=b"), fragment.file);
    EXPECT_EQ(names.file_of("../../../../../../etc/passwd"), std::nullopt);
}

TEST(HlsNames, AreEncodedInUrisOnly) {
    HlsOptions options;
    options.key_file_path = options.path;
    const StreamName odd{"v", "le caf\xC3\xA9", R"(a: "b" & c's)"};
    const Names names(options, odd, Zone::utc);
    const std::string encoded = "a%3A%20%22b%22%20%26%20c%27s";
    const FileName fragment = names.fragment(1, 2s, kMoment);
    EXPECT_EQ(fragment.file, "objs/nginx/html/le caf\xC3\xA9/a: \"b\" & c's-1.ts");
    EXPECT_EQ(fragment.uri, encoded + "-1.ts");
    EXPECT_EQ(names.file_of(fragment.uri), fragment.file);
    EXPECT_EQ(Names::part(fragment, 3).uri, encoded + "-1.3.ts");
    EXPECT_EQ(names.init(0).uri, encoded + "/init.mp4");
    EXPECT_EQ(names.uri_of(names.playlist_url()), encoded + ".m3u8");
    EXPECT_EQ(names.key(7, kMoment).uri, encoded + "-7.key");
    options.entry_prefix = "https://cdn.example.com/x";
    const FileName behind = names.fragment(1, 2s, kMoment);
    EXPECT_EQ(behind.uri, "https://cdn.example.com/x/le%20caf%C3%A9/" + encoded + "-1.ts");
    EXPECT_EQ(names.file_of(behind.uri), fragment.file);
    options.key_url = "https://keys.example.com/";
    EXPECT_EQ(names.key(7, kMoment).uri, "https://keys.example.com/le%20caf%C3%A9/" + encoded + "-7.key");
}

TEST(HlsNames, FindTheFilesOfAnEarlierRelease) {
    const HlsOptions options;
    const Names names(options, {"v", "live", "caf\xC3\xA9"}, Zone::utc);
    EXPECT_EQ(names.file_of("caf\xC3\xA9-1.ts"), names.fragment(1, 2s, kMoment).file);
    EXPECT_EQ(names.file_of("%2E%2E/%2E%2E/%2E%2E/%2E%2E/%2E%2E/etc/passwd"), std::nullopt);
}

TEST(HlsNames, OfKeysFollowTheirUrl) {
    HlsOptions options;
    options.key_file_path = "/keys";
    options.key_url = "https://keys.example.com/";
    const FileName key = Names(options, kCam, Zone::utc).key(10, kMoment);
    EXPECT_EQ(key.file, "/keys/live/cam-10.key");
    EXPECT_EQ(key.uri, "https://keys.example.com/live/cam-10.key");
}

TEST(HlsNames, OfKeysAreRelativeToTheListWithoutAUrl) {
    HlsOptions options;
    options.key_file_path = options.path;
    EXPECT_EQ(Names(options, kCam, Zone::utc).key(10, kMoment).uri, "cam-10.key");
    options.key_file = "keys/[app]/[stream]-[seq].key";
    EXPECT_EQ(Names(options, kCam, Zone::utc).key(10, kMoment).uri, "../keys/live/cam-10.key");
    options.entry_prefix = "https://cdn.example.com";
    options.key_file = "[app]/[stream]-[seq].key";
    EXPECT_EQ(Names(options, kCam, Zone::utc).key(10, kMoment).uri, "https://cdn.example.com/live/cam-10.key");
}

TEST(HlsNames, NumberInitializationSectionsFromTheSecond) {
    HlsOptions options;
    const Names names(options, kCam, Zone::utc);
    EXPECT_EQ(names.init(0).uri, "cam/init.mp4");
    EXPECT_EQ(names.init(2).uri, "cam/init-2.mp4");
    EXPECT_EQ(names.init(2).file, "objs/nginx/html/live/cam/init-2.mp4");
}

TEST(HlsNames, OfAPathHaveOneSpelling) {
    EXPECT_EQ(normal_path("./objs/nginx/html", "/live/cam.m3u8"), normal_path("objs//nginx/html/", "live/./cam.m3u8"));
    EXPECT_EQ(normal_path("", "a"), "a");
}

TEST(HlsNames, OfATrackContainThatOfTheStream) {
    EXPECT_EQ(without_track("/live/cam.audio-1.m3u8"), "/live/cam.m3u8");
    EXPECT_EQ(without_track("/live/cam.video.m3u8"), "/live/cam.m3u8");
    EXPECT_EQ(without_track("a.b/cam.x.video-12.m3u8"), "a.b/cam.x.m3u8");
    for (const char* name :
         {"/live/cam.m3u8", "/live/cam.audio", "/live/cam.audio-.m3u8", "/live/cam.audio-0.m3u8", "/live/cam.audio1.m3u8",
          "/live/cam.audio-1x.m3u8", "/live/.audio.m3u8", ".audio.m3u8", "/live.audio/cam.m3u8", "cam.subtitle.m3u8", ""})
        EXPECT_EQ(without_track(name), std::nullopt) << name;
}

TEST(HlsNames, FindTheStreamOfAName) {
    EXPECT_EQ(match_name("[app]/[stream].m3u8", "live/cam.m3u8"), (StreamName{"", "live", "cam"}));
    EXPECT_EQ(match_name("[app]/[stream].m3u8", "a/b/cam.x.m3u8"), (StreamName{"", "a/b", "cam.x"}));
    EXPECT_EQ(match_name("[vhost]/[app]/[stream]/list.m3u8", "v/live/cam/list.m3u8"), (StreamName{"v", "live", "cam"}));
    EXPECT_EQ(match_name("[app]/[stream]-[seq].ts", "live/my-cam-17.ts"), (StreamName{"", "live", "my-cam"}));
    EXPECT_EQ(match_name("[app]/[2006]/[stream]-[seq].ts", "live/2026/cam-1.ts"), (StreamName{"", "live", "cam"}));
    EXPECT_EQ(match_name("[app]/[stream].m3u8", "cam.m3u8"), std::nullopt);
    EXPECT_EQ(match_name("[app]/[stream].m3u8", "live/.m3u8"), std::nullopt);
    EXPECT_EQ(match_name("[app]/[stream].m3u8", "live/cam.ts"), std::nullopt);
    EXPECT_EQ(match_name("hls/[stream].m3u8", "hls/cam.m3u8"), (StreamName{"", "", "cam"}));
    EXPECT_EQ(match_name("hls/[stream].m3u8", "xls/cam.m3u8"), std::nullopt);
}

TEST(HlsNames, FindTheStreamOfMedia) {
    HlsOptions options;
    const StreamName cam{"", "live", "my-cam.x"};
    for (const char* name :
         {"live/my-cam.x-17.ts", "live/my-cam.x-17.3.ts", "live/my-cam.x-17.m4s", "live/my-cam.x-17.2.m4s",
          "live/my-cam.x-17.audio.m4s", "live/my-cam.x-17.video-1.m4s", "live/my-cam.x-17.audio-1.4.m4s", "live/my-cam.x-0.key",
          "live/my-cam.x/init.mp4", "live/my-cam.x/init-2.mp4", "live/my-cam.x/init.video-1.mp4"})
        EXPECT_EQ(stream_of_media(options, name), cam) << name;
    for (const char* name : {"live/cam.m3u8", "cam-1.ts", "live/cam.ts", "", ".", "live/.", "live/-1.ts", "live/cam-1.flv"})
        EXPECT_EQ(stream_of_media(options, name), std::nullopt) << name;
}

}  // namespace
}  // namespace live::service::hls
