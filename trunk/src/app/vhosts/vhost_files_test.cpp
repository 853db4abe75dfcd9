#include "app/vhosts/vhost_files.hpp"

#include <gtest/gtest.h>

#include "wire/http/target.hpp"

namespace live::app {
namespace {

using settings::CurrentSettings;
using settings::kDefaultVhost;
using settings::Settings;
using settings::Vhost;

Vhost vhost(const std::string& name, const std::string& mount, const std::string& dir) {
    Vhost made;
    made.name = name;
    made.http_static = {true, mount, dir};
    return made;
}

struct SettingsFilesTest : ::testing::Test {
    std::string find(const std::string& host, const std::string& target) {
        current.propose(settings);
        current.replace();
        session::http::Request request;
        request.message.headers.add("Host", host);
        request.target = MUST(wire::http::parse_target(target));
        const auto place = files.find(request);
        return place ? place->folder + " " + place->path : "none";
    }
    Settings settings = [] {
        Settings made;
        made.http_server.dir = "./html";
        made.vhosts = {vhost(std::string(kDefaultVhost), "[vhost]/files", "/default"), vhost("a.example", "[vhost]/", "/a"),
                       vhost("b.example", "/everywhere/", "/b"), vhost("off.example", "[vhost]/", "/off")};
        made.vhosts[3].http_static.enabled = false;
        return made;
    }();
    CurrentSettings current{settings};
    VhostFiles files{current};
};

TEST_F(SettingsFilesTest, FilesOfTheVirtualHostTakePrecedence) {
    EXPECT_EQ(find("a.example:8080", "/x/y.html"), "/a x/y.html");
    EXPECT_EQ(find("a.example", "/"), "/a ");
    EXPECT_EQ(find("other.example", "/x.html?vhost=a.example"), "/a x.html");
    EXPECT_EQ(find("a.example", "/everywhere/x"), "/a everywhere/x");
}

TEST_F(SettingsFilesTest, DefaultHostIsOmittedFromMounts) {
    EXPECT_EQ(find("other.example", "/files/x.html"), "/default x.html");
    EXPECT_EQ(find("other.example", "/filesx.html"), "./html /filesx.html");
}

TEST_F(SettingsFilesTest, MountWithoutAHostMatchesEveryHost) {
    EXPECT_EQ(find("other.example", "/everywhere/x"), "/b x");
    EXPECT_EQ(find("b.example", "/everywhere/x"), "/b x");
}

TEST_F(SettingsFilesTest, OtherPathsUseTheServersFolder) {
    EXPECT_EQ(find("off.example", "/x.html"), "./html /x.html");
    EXPECT_EQ(find("", "/console/"), "./html /console/");
    settings.vhosts[1].enabled = false;
    EXPECT_EQ(find("a.example", "/x.html"), "./html /x.html");
}

// A host that refuses all players, another one with its own HLS, and the rest without any; all in one folder.
struct SettingsFilesOfOutputsTest : ::testing::Test {
    SettingsFilesOfOutputsTest() {
        settings.http_server.dir = "./html";
        settings.vhosts = {vhost(std::string(kDefaultVhost), "[vhost]/files", "/default"), vhost("closed", "[vhost]/files", "/c"),
                           vhost("open", "[vhost]/files", "/o")};
        settings.vhosts[1].security = {true, {}, {{"play", "all"}}};
        settings.vhosts[1].hls.enabled = settings.vhosts[1].dash.enabled = true;
        settings.vhosts[1].hls.keys = true;
        settings.vhosts[1].hls.path = settings.vhosts[1].hls.key_file_path = settings.vhosts[1].dash.path = "html";
        settings.vhosts[2].hls.enabled = true;
        settings.vhosts[2].hls.path = "./html/open";
    }
    int check(const std::string& host, const std::string& target) {
        current.propose(settings);
        current.replace();
        session::http::Request request;
        request.message.headers.add("Host", host);
        request.target = MUST(wire::http::parse_target(target));
        request.peer_ip = "127.0.0.1";
        const auto allowed = files.check(request, *files.find(request), io::Deadline::never());
        return allowed.ok() ? 200 : allowed.code() == Errc::denied ? 403 : allowed.code() == Errc::not_found ? 404 : 0;
    }
    Settings settings;
    CurrentSettings current{settings};
    VhostFiles files{current};
};

TEST_F(SettingsFilesOfOutputsTest, LeftFilesHaveTheRulesOfTheirHost) {
    for (const char* media : {"/live/cam-3.ts", "/live//cam-3.ts", "/live/./cam-3.m4s", "/live/cam-3.audio-1.m4s",
                              "/live/cam/init.mp4", "/live/cam-0.key", "/live/cam/audio-3.m4s", "/live/cam/video-1-3.m4s",
                              "/live/cam/video-init.mp4", "/live/cam/audio-1-init-2.mp4"}) {
        EXPECT_EQ(check("closed", media), 403) << media;
        EXPECT_EQ(check("other", media), 403) << media;
    }
    for (const char* list : {"/live/cam.m3u8", "/live/cam.audio-1.m3u8", "/live/cam.mpd", "/live/./cam.mpd"}) {
        EXPECT_EQ(check("closed", list), 403) << list;
        EXPECT_EQ(check("other", list), 404) << list;
    }
    EXPECT_EQ(check("open", "/open/live/cam-3.ts"), 200);
    EXPECT_EQ(check("open", "/open/live/cam.m3u8"), 200);
    EXPECT_EQ(check("open", "/live/cam-3.ts"), 403);
}

TEST_F(SettingsFilesOfOutputsTest, MediaOfAGuardedStreamRequiresAPlayer) {
    Vhost& vhost = settings.vhosts[2];
    vhost.dash.enabled = true;
    vhost.dash.path = "./html/open";
    vhost.http_hooks.on_play = {"http://127.0.0.1/play"};
    EXPECT_EQ(check("open", "/open/live/cam-3.ts"), 200) << "callbacks are off";
    vhost.http_hooks.enabled = true;
    for (const char* media : {"/open/live/cam-3.ts", "/open/live/cam-3.ts?hls_ctx=madeup00", "/open/live/cam/video-3.m4s"})
        for (const char* host : {"open", "other"})
            EXPECT_EQ(check(host, media), 403) << media;
    EXPECT_EQ(check("open", "/open/live/cam.m3u8"), 200) << "its player is asked about";
    EXPECT_EQ(check("open", "/open/index.html"), 200);
    vhost.hls.ctx = false;
    EXPECT_EQ(check("open", "/open/live/cam-3.ts"), 200) << "nobody has a session";
    EXPECT_EQ(check("open", "/open/live/cam/video-3.m4s"), 403);
}

TEST_F(SettingsFilesOfOutputsTest, RecordingsNeedTheRightToPlayThem) {
    Vhost& vhost = settings.vhosts[2];
    vhost.dvr.enabled = true;
    vhost.dvr.path = "html/[app]/[stream].[timestamp].flv";
    EXPECT_EQ(check("open", "/live/cam.1700000000.flv"), 200) << "no credentials are needed";
    vhost.access.enabled = true;
    for (const char* file : {"/live/cam.1700000000.flv", "/live/./cam.1700000000.flv", "//live/cam.1.flv"})
        for (const char* host : {"open", "other", "closed"})
            EXPECT_EQ(check(host, file), 403) << file;
    EXPECT_EQ(check("open", "/live/cam.1700000000.mp4"), 200);
    EXPECT_EQ(check("open", "/live/cam.flv"), 200) << "no time in its name";
    vhost.dvr.path = "./html/rec";
    EXPECT_EQ(check("open", "/rec/cam.1700000000.flv"), 403) << "a folder";
    EXPECT_EQ(check("open", "/live/cam.1700000000.flv"), 200);
    settings.http_server.dir = "/var/html";
    vhost.dvr.path = "/var/html/rec";
    EXPECT_EQ(check("open", "/rec/cam.1700000000.flv"), 403) << "a whole path";
    vhost.dvr.enabled = false;
    EXPECT_EQ(check("open", "/rec/cam.1700000000.flv"), 200);
}

TEST_F(SettingsFilesOfOutputsTest, OtherFilesAreUnrestricted) {
    for (const char* file : {"/index.html", "/live/cam.mp4", "/live/cam/1732.mp4", "/live/cam.flv", "/live/cam.jpg",
                             "/players/a.ts", "/live/cam/intro.m4s", "/cam.m3u8", "/files/live/cam-3.ts"})
        EXPECT_EQ(check("closed", file), 200) << file;
    settings.vhosts[1].enabled = false;
    EXPECT_EQ(check("other", "/live/cam-3.ts"), 200);
}

}  // namespace
}  // namespace live::app
