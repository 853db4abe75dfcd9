#include "settings/conf/warnings.hpp"

#include <gtest/gtest.h>

namespace live::settings {
namespace {

class SettingsWarnings : public testing::Test {
protected:
    SettingsWarnings() {
        settings_.vhosts.resize(3);
        for (std::size_t i = 0; i < settings_.vhosts.size(); ++i) {
            settings_.vhosts[i].name = std::string(1, static_cast<char>('a' + i));
            settings_.vhosts[i].enabled = true;
        }
    }
    std::vector<std::string> warnings() const { return settings_warnings(settings_); }

    Settings settings_;
};

TEST_F(SettingsWarnings, NamesVirtualHostsWithTheSameFiles) {
    settings_.vhosts[0].hls.enabled = settings_.vhosts[0].dash.enabled = true;
    EXPECT_TRUE(warnings().empty()) << "one of each";
    settings_.vhosts[1].hls.enabled = settings_.vhosts[2].hls.enabled = true;
    EXPECT_EQ(warnings(),
              std::vector<std::string>{
                  "HLS of the virtual hosts a and b, c goes into the same files: of streams with one name the first has "
                  "it, and the others have none; put [vhost] into hls_m3u8_file, hls_ts_file, hls_fmp4_file, hls_init_file"});
    settings_.vhosts[2].enabled = false;
    settings_.vhosts[1].hls.path = "elsewhere";
    EXPECT_TRUE(warnings().empty());
    settings_.vhosts[1].hls.path = settings_.vhosts[0].hls.path + "/./";
    EXPECT_EQ(warnings().size(), 1U) << "the same place";
    for (Vhost& vhost : settings_.vhosts)
        for (std::string* form : {&vhost.hls.m3u8_file, &vhost.hls.ts_file, &vhost.hls.fmp4_file, &vhost.hls.init_file})
            form->insert(0, "[vhost]/");
    EXPECT_TRUE(warnings().empty());
}

TEST_F(SettingsWarnings, ChecksDashAndRecordings) {
    for (Vhost& vhost : settings_.vhosts)
        vhost.dash.enabled = vhost.dvr.enabled = true;
    ASSERT_EQ(warnings().size(), 1U) << "the usual names of recordings hold the time";
    EXPECT_TRUE(warnings()[0].starts_with("DASH of the virtual hosts a and b, c")) << warnings()[0];
    for (Vhost& vhost : settings_.vhosts)
        vhost.dvr.path = "rec/[stream].mp4";
    ASSERT_EQ(warnings().size(), 2U);
    EXPECT_TRUE(warnings()[1].ends_with("put [vhost] into dvr_path")) << warnings()[1];
    for (Vhost& vhost : settings_.vhosts)
        vhost.dvr.path = "rec/[vhost]/[stream].mp4";
    EXPECT_EQ(warnings().size(), 1U);
}

TEST_F(SettingsWarnings, NamesOutputsWithoutOnPlay) {
    Vhost& vhost = settings_.vhosts[0];
    vhost.hls.enabled = true;
    vhost.http_hooks.on_play = {"http://127.0.0.1/play"};
    EXPECT_TRUE(warnings().empty()) << "callbacks are off";
    vhost.http_hooks.enabled = true;
    EXPECT_TRUE(warnings().empty()) << "fragments are for sessions";
    vhost.hls.ctx = false;
    EXPECT_EQ(warnings(),
              std::vector<std::string>{"vhost a: on_play is not asked about players of HLS, because hls_ctx is off: anybody "
                                       "can play them; switch it on"});
    vhost.dash.enabled = true;
    EXPECT_EQ(warnings().size(), 1U);
    vhost.enabled = false;
    EXPECT_TRUE(warnings().empty());
}

TEST_F(SettingsWarnings, RecordingsBelowTheWebRootAreReportedWhereStreamsAreGuarded) {
    Vhost& vhost = settings_.vhosts[0];
    vhost.dvr.enabled = settings_.http_server.enabled = true;
    settings_.http_server.dir = "./objs/nginx/html/";
    vhost.dvr.path = "objs/nginx/html/[app]/[stream].[timestamp].flv";
    EXPECT_TRUE(warnings().empty()) << "everybody may play it";
    vhost.security = {true, {{"play", "10.0.0.0/8"}}, {}};
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_NE(warnings()[0].find("anybody can download its recordings"), std::string::npos);
    EXPECT_NE(warnings()[0].find("./objs/dvr/[app]/"), std::string::npos) << "the remedy";
    vhost.access.enabled = true;
    EXPECT_TRUE(warnings().empty()) << "recordings need a right";
    vhost.access.enabled = false;
    settings_.http_server.dir = "/var/html";
    vhost.dvr.path = "/var/html/[stream].[timestamp].flv";
    EXPECT_EQ(warnings().size(), 1U) << "whole paths";
    settings_.http_server.dir = "./objs/nginx/html/";
    vhost.dvr.path = "objs/nginx/html/[app]/[stream].[timestamp].flv";
    vhost.security = {true, {{"play", "all"}}, {}};
    EXPECT_TRUE(warnings().empty());
    vhost.security = {};
    vhost.http_hooks.enabled = true;
    vhost.http_hooks.on_play = {"http://127.0.0.1/play"};
    EXPECT_EQ(warnings().size(), 1U);
    vhost.dvr.path = service::dvr::DvrOptions().path;
    EXPECT_TRUE(warnings().empty()) << "the default is outside";
}

TEST_F(SettingsWarnings, NamesKeysThatPlayersCannotFetch) {
    Vhost& vhost = settings_.vhosts[0];
    vhost.hls.enabled = vhost.hls.keys = true;
    vhost.hls.path = "./html";
    vhost.hls.key_file_path = "html/";
    EXPECT_TRUE(warnings().empty()) << "the same place";
    for (const char* elsewhere : {"keys", "html/keys"}) {
        vhost.hls.key_file_path = elsewhere;
        ASSERT_EQ(warnings().size(), 1U) << elsewhere;
        EXPECT_EQ(warnings()[0], std::string("vhost a: players of HLS cannot get its keys, because hls_key_file_path (") +
                                     elsewhere + ") is not hls_path (./html) and there is no hls_key_url");
    }
    vhost.hls.key_url = "https://keys.example.com/";
    EXPECT_TRUE(warnings().empty());
    vhost.hls.key_url.clear();
    vhost.hls.keys = false;
    EXPECT_TRUE(warnings().empty());
    vhost.hls.keys = true;
    vhost.enabled = false;
    EXPECT_TRUE(warnings().empty());
}

TEST_F(SettingsWarnings, NamesUnusableOrigins) {
    service::relay::ClusterOptions& cluster = settings_.vhosts[0].cluster;
    cluster.origin = {"127.0.0.1:19350", "srt://192.0.2.1?passphrase=tooshort"};
    EXPECT_TRUE(warnings().empty()) << "it is no edge";
    cluster.mode = service::relay::ClusterMode::remote;
    EXPECT_EQ(warnings(), std::vector<std::string>{
                              "vhost a: origin \"srt://192.0.2.1\": srt:// address: passphrase has 10 to 79 characters"});
    cluster.origin = {"srt://192.0.2.1", "srt://192.0.2.2"};
    EXPECT_TRUE(warnings().empty());
    cluster.token_traverse = true;
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_TRUE(warnings()[0].starts_with("vhost a: token_traverse refuses all clients"));
    cluster.origin.emplace_back("192.0.2.3");
    EXPECT_TRUE(warnings().empty());
}

TEST_F(SettingsWarnings, NamesForwardsAndIngestsWithoutEffect) {
    Vhost& vhost = settings_.vhosts[0];
    vhost.forward.enabled = true;
    EXPECT_EQ(warnings(), std::vector<std::string>{"vhost a: forward is enabled and has no destination: nothing is forwarded"});
    vhost.forward.destinations = {"192.0.2.1", "h:0"};
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_TRUE(warnings()[0].starts_with("vhost a: forward destination \"h:0\"")) << warnings()[0];
    vhost.forward.enabled = false;
    vhost.ingests.resize(1);
    vhost.ingests[0].id = "x";
    EXPECT_TRUE(warnings().empty());
    vhost.ingests[0].enabled = true;
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_TRUE(warnings()[0].starts_with("vhost a: ingest x is enabled and has no engine")) << warnings()[0];
    vhost.enabled = false;
    EXPECT_TRUE(warnings().empty());
}

TEST_F(SettingsWarnings, NamesZeroDurationsAndShortWindows) {
    Vhost& vhost = settings_.vhosts[0];
    vhost.hls.enabled = vhost.dash.enabled = vhost.dvr.enabled = vhost.rtc.enabled = true;
    vhost.dvr.plan = service::dvr::DvrPlan::segment;
    EXPECT_TRUE(warnings().empty());
    vhost.hls.fragment = vhost.dash.fragment = vhost.dash.update_period = vhost.dvr.duration = {};
    vhost.rtc.stun_timeout = {};
    EXPECT_EQ(warnings().size(), 5U);
    vhost.hls.fragment = 10s;
    vhost.hls.window = 5s;
    ASSERT_EQ(warnings().size(), 5U);
    EXPECT_TRUE(warnings()[0].starts_with("vhost a: hls_window is shorter than hls_fragment")) << warnings()[0];
}

TEST_F(SettingsWarnings, UnknownVariablesAndMissingStreamNamesAreNamed) {
    Vhost& vhost = settings_.vhosts[0];
    vhost.hls.enabled = vhost.dvr.enabled = true;
    vhost.hls.ts_file = "[app]/[steam]-[seq]-[timestamp].ts";
    vhost.dvr.path = "rec/[2006]/[stream].flv";
    EXPECT_EQ(warnings(),
              std::vector<std::string>{"vhost a: hls_ts_file has [steam], which is no variable, did you mean \"stream\"?"});
    vhost.dvr.path = "rec/[app].flv";
    vhost.hls.ts_file = "[app]/[stream]-[seq].ts";
    EXPECT_EQ(warnings(), std::vector<std::string>{"vhost a: dvr_path is without [stream]: a second stream has the same file"});
    vhost.dvr.path = "rec/[timestamp].flv";
    EXPECT_TRUE(warnings().empty());
}

TEST_F(SettingsWarnings, TokenOfAnOpenApiIsNamed) {
    settings_.http_api.enabled = true;
    EXPECT_TRUE(warnings().empty());
    settings_.http_api.auth.token = "t";
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_TRUE(warnings()[0].starts_with("http_api.auth has a token or a password and is off")) << warnings()[0];
    settings_.http_api.auth.enabled = true;
    EXPECT_TRUE(warnings().empty());
}

TEST_F(SettingsWarnings, NamesUnboundedSrtWaitsAndSrtWithoutAVirtualHost) {
    settings_.srt_server.tlpktdrop = false;
    EXPECT_TRUE(warnings().empty()) << "it is off";
    settings_.srt_server.enabled = true;
    ASSERT_EQ(warnings().size(), 2U);
    EXPECT_TRUE(warnings()[0].starts_with("srt_server: with tlpktdrop off and tsbpdmode on, a packet that never comes"));
    EXPECT_TRUE(warnings()[1].starts_with("srt_server is enabled, and no virtual host has srt"));
    settings_.vhosts[1].srt.enabled = true;
    EXPECT_EQ(warnings().size(), 1U);
    settings_.srt_server.tsbpdmode = false;
    EXPECT_TRUE(warnings().empty());
    settings_.vhosts[1].srt.srt_to_rtmp = false;
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_TRUE(warnings()[0].starts_with("vhost b: srt_to_rtmp off has no effect"));
}

}  // namespace
}  // namespace live::settings
