#include "app/start/sign_command.hpp"

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "service/tokens/key_file.hpp"

namespace live::app {
namespace {

using namespace std::chrono_literals;
using service::tokens::Permission;

Result<SignCommand> parse_sign(std::vector<std::string_view> arguments) { return parse_sign_command(arguments, {}); }

std::string named_by(std::string_view url) {
    const auto found = stream_of_url(url);
    return found.ok() ? found->vhost + " " + found->app + " " + found->stream : std::string(name_of(found.code()));
}

TEST(SignCommand, FindsTheStreamOfEachProtocol) {
    for (const char* url :
         {"rtmp://h/live/cam", "rtmps://h:443/live/cam?a=b", "rtsp://h:8554/live/cam", "http://h:8080/live/cam.m3u8",
          "http://h:8080/live/cam.flv?x", "https://h/live/cam.mpd", "ws://h/live/cam.flv",
          "http://h:1985/rtc/v1/whip/?app=live&stream=cam", "http://h/rtc/v1/whep/?stream=cam&app=live",
          "http://h:8082/get?path=live/cam&duration=5", "https://h/list?path=live%2Fcam",
          "srt://x:10080?streamid=#!::h=h,r=live/cam,m=publish", "srt://x:10080?streamid=#!::h=h,r=live/cam&latency=20"})
        EXPECT_EQ(named_by(url), "h live cam") << url;
    EXPECT_EQ(named_by("http://h/a/b/cam.v2.flv"), "h a/b cam.v2");
    for (const char* url :
         {"", "live/cam", "rtmp://h", "http://h/get", "http://h/get?path=cam", "srt://h:10080", "srt://h?streamid=#!::m=publish"})
        EXPECT_EQ(named_by(url), "malformed") << url;
}

TEST(SignCommand, ExplainsWhatIsMissing) {
    EXPECT_NE(parse_sign({"-c", "a"}).error().sentence().find("a URL"), std::string::npos);
    EXPECT_NE(parse_sign({"rtmp://h/live/cam"}).error().sentence().find("-c FILE"), std::string::npos);
    EXPECT_NE(parse_sign({"-c", "a", "rtmp://h/live/cam", "x"}).error().sentence().find("\"x\""), std::string::npos);
    EXPECT_EQ(parse_sign({"-c", "a", "rtmp://h/live/cam", "--address", "x"}).code(), Errc::malformed);
    EXPECT_EQ(MUST(parse_sign({"-c", "a", "rtmp://h/live/cam"})).lifetime, 1h);
    EXPECT_EQ(MUST(parse_sign({"-c", "a", "http://h/get?path=live/cam", "--playback"})).permissions,
              std::vector{Permission::playback});
}

TEST(SignCommand, SignsWithTheFirstSecret) {
    const ScratchFolder folder;
    settings::Settings settings;
    settings.vhosts.emplace_back().name = settings::kDefaultVhost;
    auto& access = settings.vhosts.front().access;
    const service::signed_urls::UnixSeconds now{1'800'000'000s};
    const auto command = MUST(parse_sign({"-c", "a", "http://h:8080/live/cam.m3u8", "--expires", "5s"}));
    EXPECT_EQ(sign_url(command, settings, now).code(), Errc::unsupported) << "access is off";
    access.enabled = true;
    access.key_files = {folder.file("new.key")};
    const std::string url = MUST(sign_url(command, settings, now));
    EXPECT_EQ(url.find("http://h:8080/live/cam.m3u8?expires=1800000005&signature="), 0U) << url;
    const auto key = MUST(service::tokens::read_key(folder.file("new.key")));
    const auto query = MUST(wire::http::Query::parse(url.substr(url.find('?') + 1)));
    const service::signed_urls::Secrets secrets{.keys = {key.secret()}};
    EXPECT_TRUE(
        service::signed_urls::verify(query, {}, secrets, {"live/cam", Permission::play, "10.0.0.7", "10.0.0.7", now}).ok());
    const auto srt = MUST(parse_sign({"-c", "a", "srt://h:10080?streamid=#!::r=live/cam,m=publish&latency=20", "--publish"}));
    const std::string signed_srt = MUST(sign_url(srt, settings, now));
    EXPECT_EQ(signed_srt.find("srt://h:10080?streamid=#!::r=live/cam,m=publish,rights=publish,expires=1800003600,signature="),
              0U);
    EXPECT_TRUE(signed_srt.ends_with("&latency=20")) << signed_srt;
}

}  // namespace
}  // namespace live::app
