#include "app/vhosts/stream_list.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "session/http_live/protocol.hpp"
#include "session/rtc/protocol.hpp"
#include "session/rtmp/protocol.hpp"
#include "session/rtsp/protocol.hpp"
#include "session/srt/protocol.hpp"
#include "wire/http/target.hpp"

namespace live::app {
namespace {

using settings::CurrentSettings;
using settings::kDefaultVhost;
using settings::Settings;
using settings::Vhost;

// Has the files whose paths have this suffix.
class FakeDash final : public session::http::Handler {
public:
    bool takes(const session::http::Request& request) const override { return request.path() == has; }
    std::string has;
};

struct StreamListSettingsTest : ::testing::Test {
    StreamListSettingsTest() {
        settings.listen = {"1935"};
        settings.http_server.enabled = true;
        settings.vhosts.resize(2);
        settings.vhosts[0].name = kDefaultVhost;
        settings.vhosts[1].name = "v.example";
        for (Vhost& vhost : settings.vhosts)
            vhost.http_remux.enabled = true;
    }
    std::unique_ptr<api::StreamListView> view(const std::string& host, const std::string& more = "",
                                              const std::string& value = "") {
        request.message.headers = {};
        request.message.headers.add("Host", host);
        if (!more.empty())
            request.message.headers.add(more, value);
        request.target = MUST(wire::http::parse_target("/streams.json"));
        request.peer_ip = "10.0.0.9";
        current.propose(settings);
        current.replace();
        return list.view(request);
    }
    using Addresses = std::map<std::string, std::string>;
    static Addresses by_format(const std::vector<api::StreamAddress>& addresses) {
        Addresses found;
        for (const auto& [format, url] : addresses)
            found[format] = url;
        return found;
    }
    Addresses play(const std::string& host, const api::ListedStream& stream = kCam) {
        return by_format(view(host)->play_addresses(stream));
    }
    std::string api_of(const std::string& host) {
        const auto place = view(host)->api();
        return place.missing.empty() ? place.url : std::string(place.missing);
    }

    static constexpr api::ListedStream kCam{"__defaultVhost__", "live", "cam"};
    Settings settings;
    service::hls::FileIndex hls;
    FakeDash dash;
    CurrentSettings current{settings};
    struct Srt final : session::srt::SrtVhosts {
        explicit Srt(const CurrentSettings& all) : settings(all) {}
        Result<session::srt::SrtOptions> find(const std::string& vhost) const override {
            const Vhost* found = settings->find_vhost(vhost);
            return found->enabled && found->srt.enabled ? Result(found->srt) : Error(Errc::denied, "no SRT");
        }
        std::string serving_name(const std::string& vhost) const override { return vhost; }
        const session::srt::SrtServerOptions& server() const override { return settings->srt_server; }
        const session::srt::SrtLimitOptions& limits() const override { return settings->srt_limits; }
        const CurrentSettings& settings;
    } srt{current};
    struct Rtc final : session::rtc::RtcVhosts {
        explicit Rtc(const CurrentSettings& all) : settings(all) {}
        Result<session::rtc::RtcOptions> find(const std::string& vhost) const override {
            const Vhost* found = settings->find_vhost(vhost);
            return found->enabled && found->rtc.enabled ? Result(found->rtc) : Error(Errc::not_found, "no WebRTC");
        }
        session::rtc::RtcServerOptions server() const override { return settings->rtc_server; }
        bool shows_bearer() const override { return false; }
        const CurrentSettings& settings;
    } rtc{current};
    struct Rtsp final : session::rtsp::RtspVhosts {
        explicit Rtsp(const CurrentSettings& all) : settings(all) {}
        Result<session::rtsp::RtspOptions> find(const std::string& vhost) const override {
            const Vhost* found = settings->find_vhost(vhost);
            return found->enabled && found->rtsp.enabled ? Result(found->rtsp) : Error(Errc::denied, "no RTSP");
        }
        const CurrentSettings& settings;
    } rtsp{current};
    session::rtsp::Listening rtsp_listens;
    const session::Protocols protocols{
        {.name = "rtmp",
         .add_urls =
             [this](const auto& asked, auto& urls) {
                 const auto& secure = current->rtmps;
                 session::rtmp::add_urls({current->listen, secure.enabled ? secure.listen : std::vector<std::string>()}, asked,
                                         urls);
             }},
        {.name = "srt",
         .add_urls = [this](const auto& asked, auto& urls) { session::srt::add_urls(current->srt_server, srt, asked, urls); }},
        {.name = "rtsp",
         .add_urls = [this](const auto& asked, auto& urls) { session::rtsp::add_urls(rtsp_listens, rtsp, asked, urls); }},
        {.name = "silent"},
        {.name = "rtc", .add_urls = [this](const auto& asked, auto& urls) { session::rtc::add_urls(rtc, asked, urls); }},
        {.name = "http", .add_urls = [this](const auto& asked, auto& urls) {
             session::http_live::add_urls(current->find_vhost(asked.vhost)->http_remux, asked, urls);
         }}};
    StreamList list{current, protocols, hls, dash};
    session::http::Request request;
};

TEST_F(StreamListSettingsTest, AddressesHaveTheRequestedHost) {
    EXPECT_EQ(play("example.com:18080"), (Addresses{{"rtmp", "rtmp://example.com/live/cam"},
                                                    {"flv", "http://example.com:18080/live/cam.flv"},
                                                    {"ws-flv", "ws://example.com:18080/live/cam.flv"}}));
    EXPECT_EQ(play("[fd00::1]:8080")["rtmp"], "rtmp://[fd00::1]/live/cam");
    EXPECT_EQ(play("v.example")["flv"], "http://v.example/live/cam.flv?vhost=__defaultVhost__") << "the host is another's";
    settings.listen = {"127.0.0.1:1936", "1937"};
    EXPECT_EQ(play("example.com")["rtmp"], "rtmp://example.com:1937/live/cam");
    EXPECT_EQ(play("localhost")["rtmp"], "rtmp://localhost:1936/live/cam");
    request.secure = true;
    settings.rtmps = {true, {"1443"}, {}};
    EXPECT_EQ(play("example.com")["ws-flv"], "wss://example.com/live/cam.flv");
    EXPECT_EQ(play("example.com")["rtmps"], "rtmps://example.com:1443/live/cam");
}

TEST_F(StreamListSettingsTest, SkipsLoopbackPortsForRemoteClients) {
    settings.listen = {"127.0.0.1:1935"};
    EXPECT_EQ(play("10.0.0.1").count("rtmp"), 0U);
    EXPECT_EQ(play("127.0.0.1").count("rtmp"), 1U);
}

TEST_F(StreamListSettingsTest, ListsServedFormatsOnly) {
    settings.vhosts[0].http_remux.mount = "/[stream].ts";
    EXPECT_EQ(play("h")["ts"], "http://h/cam.ts");
    EXPECT_EQ(play("h", {"__defaultVhost__", "other", "cam"}).count("ts"), 0U) << "without [app] there is one application";
    settings.vhosts[0].http_remux.enabled = false;
    settings.vhosts[0].dash.enabled = true;
    settings.vhosts[0].hls.enabled = true;
    EXPECT_EQ(play("h"), (Addresses{{"rtmp", "rtmp://h/live/cam"}})) << "no playlist yet";
    EXPECT_EQ(list.hls_format(kCam), "");
    api::ListedStream listed = kCam;
    listed.hls = "ll-hls";
    EXPECT_EQ(play("h", listed)["ll-hls"], "http://h/live/cam.m3u8") << "on another worker";
    dash.has = "/live/cam.mpd";
    EXPECT_EQ(play("h")["dash"], "http://h/live/cam.mpd");
}

TEST_F(StreamListSettingsTest, ListsWebRtcWhereItIsBridged) {
    settings.rtc_server.enabled = settings.vhosts[0].rtc.enabled = true;
    EXPECT_EQ(play("h").count("whep"), 0U);
    api::ListedStream browser = kCam;
    browser.comes_by_rtc = true;
    EXPECT_EQ(play("h:8080", browser), (Addresses{{"whep", "http://h:8080/rtc/v1/whep/?app=live&stream=cam"}}));
    settings.vhosts[0].play.bridge.rtc_to_rtmp = settings.vhosts[0].play.bridge.rtmp_to_rtc = true;
    EXPECT_EQ(play("h", browser).count("rtmp"), 1U);
    EXPECT_EQ(play("h").count("whep"), 1U);
    EXPECT_EQ(by_format(view("h")->publish_addresses()),
              (Addresses{{"rtmp", "rtmp://h/live/livestream"}, {"whip", "http://h/rtc/v1/whip/?app=live&stream=livestream"}}));
}

TEST_F(StreamListSettingsTest, ListsSrtWhereItListens) {
    settings.srt_server.enabled = true;
    EXPECT_EQ(play("h").count("srt"), 0U) << "not in this virtual host";
    settings.vhosts[0].srt.enabled = settings.vhosts[1].srt.enabled = true;
    EXPECT_EQ(play("h:8080")["srt"], "srt://h:10080?streamid=#!::r=live/cam,m=request");
    EXPECT_EQ(play("[fd00::1]:8080")["srt"], "srt://[fd00::1]:10080?streamid=#!::r=live/cam,m=request");
    EXPECT_EQ(play("h", {"v.example", "live", "cam"})["srt"], "srt://h:10080?streamid=#!::h=v.example,r=live/cam,m=request");
    for (const char* name : {"a,m=publish", "a=b", "a&b", "a#b", "a?b", "a%62", "a+b", "a b"})
        EXPECT_EQ(play("h", {"__defaultVhost__", "live", name}).count("srt"), 0U) << name << ": no client states it alike";
    EXPECT_EQ(by_format(view("h")->publish_addresses())["srt"], "srt://h:10080?streamid=#!::r=live/livestream,m=publish");
    settings.srt_server.listen = {"127.0.0.1:10080"};
    EXPECT_EQ(play("h").count("srt"), 0U);
    settings.srt_server.listen = {"10080"};
    settings.srt_server.enabled = false;
    EXPECT_EQ(play("h").count("srt"), 0U);
}

TEST_F(StreamListSettingsTest, ListsRtspWhereItListens) {
    rtsp_listens.plain = {"8554"};
    EXPECT_EQ(play("h").count("rtsp"), 0U) << "not in this virtual host";
    settings.vhosts[0].rtsp.enabled = settings.vhosts[1].rtsp.enabled = true;
    EXPECT_EQ(play("h:8080")["rtsp"], "rtsp://h:8554/live/cam");
    EXPECT_EQ(play("h").count("rtsps"), 0U);
    EXPECT_EQ(play("h", {"v.example", "live", "cam"})["rtsp"], "rtsp://h:8554/live/cam?vhost=v.example");
    rtsp_listens = {{"554"}, {"322"}};
    EXPECT_EQ(play("[fd00::1]:8080")["rtsp"], "rtsp://[fd00::1]/live/cam");
    EXPECT_EQ(play("h")["rtsps"], "rtsps://h/live/cam");
    const auto publish = by_format(view("h")->publish_addresses());
    EXPECT_EQ(publish.at("rtsp"), "rtsp://h/live/livestream");
    EXPECT_EQ(publish.at("rtsps"), "rtsps://h/live/livestream");
    rtsp_listens.plain = {"127.0.0.1:8554"};
    EXPECT_EQ(play("h").count("rtsp"), 0U);
    api::ListedStream browser = kCam;
    browser.comes_by_rtc = true;
    EXPECT_EQ(play("h", browser).count("rtsps"), 0U) << "without the bridge";
}

TEST_F(StreamListSettingsTest, RulesHideStreams) {
    EXPECT_TRUE(view("h")->shows("v.example"));
    EXPECT_FALSE(view("h")->shows("gone.example"));
    settings.vhosts[1].security = {true, {}, {{"play", "10.0.0.0/8"}}};
    EXPECT_FALSE(view("h")->shows("v.example"));
    settings.vhosts[1].security = {true, {{"play", "10.0.0.9"}}, {}};
    EXPECT_TRUE(view("h")->shows("v.example"));
    settings.vhosts[1].refer = {true, {}, {}, {"page.example"}};
    EXPECT_FALSE(view("h")->shows("v.example"));
    EXPECT_TRUE(view("h", "Referer", "http://page.example/")->shows("v.example"));
    settings.vhosts[1].refer.enabled = settings.vhosts[1].enabled = false;
    EXPECT_FALSE(view("h")->shows("v.example"));
}

TEST_F(StreamListSettingsTest, CallbacksHideStreams) {
    EXPECT_FALSE(view("h")->hides_some());
    settings.vhosts[1].http_hooks.on_play = {"http://127.0.0.1/on_play"};
    EXPECT_TRUE(view("h")->shows("v.example")) << "http_hooks is off";
    settings.vhosts[1].http_hooks.enabled = true;
    EXPECT_FALSE(view("h")->shows("v.example"));
    EXPECT_TRUE(view("h")->shows(kDefaultVhost));
    EXPECT_TRUE(view("h")->hides_some());
    settings.vhosts[1].http_hooks.on_play.clear();
    settings.vhosts[1].http_hooks.on_publish = {"http://127.0.0.1/on_publish"};
    EXPECT_TRUE(view("h")->shows("v.example"));
    settings.vhosts[1].cluster.token_traverse = true;
    EXPECT_TRUE(view("h")->shows("v.example")) << "it is no edge";
    settings.vhosts[1].cluster.mode = service::relay::ClusterMode::remote;
    EXPECT_FALSE(view("h")->shows("v.example"));
}

TEST_F(StreamListSettingsTest, TokensHideStreams) {
    settings.vhosts[1].access.enabled = true;
    EXPECT_FALSE(view("h")->shows("v.example"));
    EXPECT_TRUE(view("h")->shows(kDefaultVhost));
    EXPECT_TRUE(view("h")->hides_some());
    settings.vhosts[1].access.anybody = {{"play"}};
    EXPECT_TRUE(view("h")->shows("v.example"));
}

TEST_F(StreamListSettingsTest, ApiUrlIsReachableByTheClient) {
    EXPECT_EQ(api_of("127.0.0.1:8080"), "off");
    settings.http_api.enabled = true;
    EXPECT_EQ(api_of("127.0.0.1:8080"), "http://127.0.0.1:1985");
    EXPECT_EQ(api_of("localhost:8080"), "http://localhost:1985");
    EXPECT_EQ(api_of("10.0.0.1:8080"), "loopback");
    settings.http_api.listen = {"1985"};
    EXPECT_EQ(api_of("10.0.0.1:8080"), "http://10.0.0.1:1985");
    settings.http_api.listen = {"8080"};
    EXPECT_EQ(api_of("10.0.0.1:18080"), "http://10.0.0.1:18080") << "one server is both, whatever maps its port";
    settings.http_api.listen = {"1985"};
    request.secure = true;
    EXPECT_EQ(api_of("10.0.0.1"), "https");
    settings.http_api.https.enabled = true;
    EXPECT_EQ(api_of("10.0.0.1"), "loopback");
    settings.http_api.https.listen = {"1990"};
    EXPECT_EQ(api_of("10.0.0.1"), "https://10.0.0.1:1990");
}

TEST_F(StreamListSettingsTest, MalformedHostGivesNoView) {
    for (const char* host : {"", "a b", "<script>", "h:port", "h:123456", "[::1", "h/x", "h\"", "user@h", ":80", "h?x"})
        EXPECT_EQ(view(host), nullptr) << host;
    for (const char* host : {"h", "h:", "h:1", "a-b.example:65535", "[::1]", "[::1]:80", "10.0.0.1"})
        EXPECT_NE(view(host), nullptr) << host;
}

}  // namespace
}  // namespace live::app
