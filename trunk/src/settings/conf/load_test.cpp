#include "settings/conf/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace live::settings {
namespace {

Result<LoadedSettings> load_text(const std::string& text, config::Environment environment = {}) {
    LoadInput input;
    input.path = "a.conf";
    input.environment = std::move(environment);
    return load_settings(input, [&text](const std::string&) -> Result<std::string> { return text; });
}

// Loads a text that must be valid.
LoadedSettings good(const std::string& text, config::Environment environment = {}) {
    auto loaded = load_text(text, std::move(environment));
    EXPECT_TRUE(loaded.ok()) << text << ": " << (loaded.ok() ? "" : loaded.error().sentence());
    return loaded.ok() ? std::move(loaded).value() : LoadedSettings{};
}

// A virtual host with these directives; `listen` is added.
Vhost vhost_of(const std::string& directives, config::Environment environment = {}) {
    LoadedSettings loaded = good("listen 1935; vhost a { " + directives + " }", std::move(environment));
    return loaded.settings.vhosts.empty() ? Vhost{} : loaded.settings.vhosts.front();
}

std::string error_of(const std::string& text) {
    const auto loaded = load_text(text);
    return loaded.ok() ? "" : loaded.error().sentence();
}

std::string all_warnings(const LoadedSettings& loaded) {
    std::string out;
    for (const std::string& warning : loaded.warnings)
        out += warning + "\n";
    return out;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Settings, DefaultsAreThoseOfTheDocument) {
    const Settings settings = good("listen 1935; vhost __defaultVhost__ {}").settings;
    EXPECT_EQ(settings.listen, std::vector<std::string>{"1935"});
    EXPECT_EQ(settings.chunk_size, 60'000U);
    EXPECT_EQ(settings.max_connections, 1000U);
    EXPECT_TRUE(settings.daemon);
    EXPECT_EQ(settings.log.tank, LogTank::file);
    EXPECT_EQ(settings.access_log, "./objs/access.log");
    EXPECT_EQ(settings.pithy_print, 10s);
    const Vhost& vhost = *settings.find_vhost("any.example.com");
    EXPECT_TRUE(vhost.play.gop_cache);
    EXPECT_EQ(vhost.play.gop_cache_frames_max, 2500U);
    EXPECT_EQ(vhost.play.queue_length, 30s);
    EXPECT_EQ(vhost.play.mw_latency, 350ms);
    EXPECT_EQ(vhost.play.mw_msgs, 8U);
    EXPECT_FALSE(vhost.publish.merged_read);
    EXPECT_EQ(vhost.publish.first_packet_timeout, 20s);
    EXPECT_EQ(vhost.publish.normal_timeout, 5s);
    EXPECT_FALSE(vhost.publish.takeover);
    EXPECT_EQ(vhost.rtmp.out_ack_size, 2'500'000U);
    EXPECT_EQ(vhost.hls.key_file_path, "./objs/nginx/html");
}

TEST(Settings, ApiListensOnLoopbackByDefault) {
    EXPECT_EQ(good("listen 1935; vhost a {} http_api { enabled on; }").settings.http_api.listen,
              std::vector<std::string>{"127.0.0.1:1985"});
    EXPECT_EQ(good("listen 1935; vhost a {} http_api { enabled on; listen 1985; }").settings.http_api.listen,
              std::vector<std::string>{"1985"});
}

TEST(Settings, OneHttpServerIsOneOverTlsToo) {
    const std::string both =
        "listen 1935; http_api { enabled on; listen 8080; https { enabled on; %s} } "
        "http_server { enabled on; listen 8080; https { enabled on; listen 8443; } }";
    const auto listen_of = [&both](const std::string& written) {
        std::string text = both;
        return good(text.replace(text.find("%s"), 2, written)).settings.http_api.https.listen;
    };
    EXPECT_EQ(listen_of(""), std::vector<std::string>{"8443"});
    EXPECT_EQ(listen_of("listen 8443; "), std::vector<std::string>{"8443"});
}

TEST(Settings, DocumentedSampleLoadsAsDescribed) {
    const LoadedSettings loaded = good(
        "listen 1935;\nmax_connections 1000;\ndaemon off;\nsrs_log_tank console;\nhttp_api { enabled on; listen 1985; }\n"
        "http_server { enabled on; listen 8080; dir ./objs/nginx/html; }\n"
        "rtc_server { enabled on; listen 8000; candidate $CANDIDATE; }\nvhost __defaultVhost__ {\n tcp_nodelay on;\n min_latency "
        "on;\n"
        " play { gop_cache off; queue_length 10; mw_latency 100; }\n publish { mr off; }\n"
        " hls { enabled on; hls_fragment 2; hls_window 10; }\n http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }\n"
        " rtc { enabled on; rtmp_to_rtc on; rtc_to_rtmp on; }\n http_hooks { enabled on; on_publish "
        "http://127.0.0.1:8085/api/v1/streams http://localhost:8085/api/v1/streams; }\n}\n",
        {{"CANDIDATE", "192.0.2.7"}});
    const Settings& settings = loaded.settings;
    EXPECT_FALSE(settings.daemon);
    EXPECT_EQ(settings.log.tank, LogTank::console);
    EXPECT_EQ(settings.rtc_server.candidates, std::vector<std::string>{"192.0.2.7"});
    const Vhost& vhost = settings.vhosts.front();
    EXPECT_TRUE(vhost.rtmp.tcp_nodelay);
    EXPECT_FALSE(vhost.play.gop_cache);
    EXPECT_EQ(vhost.play.queue_length, 10s);
    EXPECT_EQ(vhost.play.mw_latency, 100ms);
    EXPECT_EQ(vhost.play.mw_msgs, 0U);
    EXPECT_EQ(vhost.hls.fragment, 2s);
    EXPECT_EQ(vhost.http_hooks.on_publish.size(), 2U);
    EXPECT_TRUE(loaded.warnings.empty()) << all_warnings(loaded);
}

TEST(Settings, AConfOfTheOldestGenerationLoads) {
    const LoadedSettings loaded = good(
        "listen              1935;\nmax_connections     10240;\nvhost __defaultVhost__ {\n    gop_cache       on;\n"
        "    forward         127.0.0.1:19350;\n}\n");
    EXPECT_EQ(loaded.settings.max_connections, 10'240U);
    const Vhost& vhost = loaded.settings.vhosts.front();
    EXPECT_TRUE(vhost.play.gop_cache);
    EXPECT_TRUE(vhost.forward.enabled);
    EXPECT_EQ(vhost.forward.destinations, std::vector<std::string>{"127.0.0.1:19350"});
    EXPECT_EQ(loaded.warnings.size(), 2U) << all_warnings(loaded);
    EXPECT_TRUE(has(all_warnings(loaded), "a.conf:4:5: \"gop_cache\" is an old form of \"play { gop_cache; }\" (line 4)"));
}

TEST(Settings, ErrorsHavePositionValueAndNearestName) {
    struct LoadCase {
        const char* text;
        const char* error;
    };
    const LoadCase cases[] = {
        {"listn 1935;", "a.conf:1:1: illegal directive listn, did you mean \"listen\"? (line 1)"},
        {"listen 1935;\nhttp_api {\n  enabled on;\n  listne 1985;\n}",
         "a.conf:4:3: illegal http_api.listne, did you mean \"listen\"? (line 4)"},
        {"listen 1935; vhost v { gopcache on; }", "a.conf:1:24: illegal vhost.gopcache of v (line 1)"},
        {"listen 1935; vhost v { hls { hls_fragmnet 2; } }",
         "a.conf:1:30: illegal vhost.hls.hls_fragmnet of v, did you mean \"hls_fragment\"? (line 1)"},
        {"listen 1935; vhost v { play { xyz on; } }", "a.conf:1:31: illegal vhost.play.xyz of v (line 1)"},
        {"listen 1935; vhost v { play { queue_length ten; } }",
         "a.conf:1:44: found \"ten\" for \"queue_length\", expected a number from 1..3600 (line 1)"},
        {"listen 1935; vhost v { play { time_jitter ful; } }",
         "a.conf:1:43: found \"ful\" for \"time_jitter\", expected one of full, zero, off, did you mean \"full\"? (line 1)"},
        {"listen 1935; max_connections 0;",
         "a.conf:1:30: found 0 for \"max_connections\", expected a whole number from 1..1000000 (line 1)"},
        {"listen 1935; max_connections 1.5;",
         "a.conf:1:30: found \"1.5\" for \"max_connections\", expected a whole number from 1..1000000 (line 1)"},
        {"listen 1935; max_connections 10k;",
         "a.conf:1:30: found \"10k\" for \"max_connections\", expected a whole number from 1..1000000 (line 1)"},
        {"listen 1935; max_connections;",
         "a.conf:1:14: found no value behind \"max_connections\", expected a whole number (line 1)"},
        {"listen 1935; max_connections { }",
         "a.conf:1:14: found a block behind \"max_connections\", expected a whole number and \";\" (line 1)"},
        {"listen 1935; http_api on;", "a.conf:1:14: found no block behind \"http_api\", expected \"{\" (line 1)"},
        {"listen 1935; vhost { }", "a.conf:1:14: found \"vhost\" without its name, expected one before \"{\" (line 1)"},
        {"listen 1935; vhost a;", "a.conf:1:14: found no block behind \"vhost\", expected \"{\" (line 1)"},
        {"listen 0;",
         "a.conf:1:8: found \"0\" for \"listen\", expected port, ip:port or [ipv6]:port with a port from 1..65535: \"0\" is not "
         "a port from "
         "1..65535 (line 1)"},
        {"listen 1935 300.0.0.1:1936;",
         "a.conf:1:13: found \"300.0.0.1:1936\" for \"listen\", expected port, ip:port or [ipv6]:port with a port from 1..65535: "
         "\"300.0.0.1\" is not an address (line 1)"},
        {"", "a.conf: conf is empty, expected at least \"listen\" (line 1)"},
        {"vhost a {}", "a.conf: found no \"listen\", expected the RTMP endpoints such as \"listen 1935;\""},
    };
    for (const LoadCase& one : cases)
        EXPECT_EQ(error_of(one.text), one.error) << one.text;
}

TEST(Settings, BooleansFollowTheirDefault) {
    struct LoadCase {
        const char* word;
        bool default_off, default_on;
    };
    for (const LoadCase& one : {LoadCase{"on", true, true}, {"off", false, false}}) {
        const Vhost vhost = vhost_of(std::string("play { atc ") + one.word + "; gop_cache " + one.word + "; }");
        EXPECT_EQ(vhost.play.atc, one.default_off) << one.word;
        EXPECT_EQ(vhost.play.gop_cache, one.default_on) << one.word;
    }
    // Another word is accepted where it means what the option then is.
    for (const char* word : {"true", "1", "ON", "yes", "enable"})
        EXPECT_TRUE(vhost_of(std::string("play { gop_cache ") + word + "; }").play.gop_cache) << word;
    for (const char* word : {"false", "0", "OFF", "no", "disable"})
        EXPECT_FALSE(vhost_of(std::string("play { atc ") + word + "; }").play.atc) << word;
    EXPECT_TRUE(has(all_warnings(good("listen 1935; vhost a { play { gop_cache true; } }")),
                    "a.conf:1:41: found \"true\" for \"gop_cache\", expected on or off; taken as on (line 1)"));
    for (const char* directive :
         {"play { atc true; }", "play { atc 1; }", "play { gop_cache false; }", "enabled no;", "hls { enabled true; }",
          "hls { enabled onn; }", "srt { srt_to_rtmp yes; }", "hls { hls_keys no; }"})
        EXPECT_TRUE(has(error_of(std::string("listen 1935; vhost a { ") + directive + " }"), "expected on or off")) << directive;
    EXPECT_TRUE(has(error_of("listen 1935; vhost a { hls { enabled onn; } }"), "did you mean \"on\"?"));
    EXPECT_TRUE(vhost_of("hls { hls_keys yes; }").hls.keys);
    EXPECT_FALSE(vhost_of("hls { hls_keys off; }").hls.keys);
    EXPECT_TRUE(vhost_of("srt { }").srt.srt_to_rtmp);
    EXPECT_TRUE(vhost_of("srt { srt_to_rtmp on; }").srt.srt_to_rtmp);
}

TEST(Settings, NumbersOutsideTheirBoundsAreClampedWhereTheDocumentOnlyWarns) {
    LoadedSettings loaded = good("listen 1935; chunk_size 100; vhost a { play { mw_msgs 500; } rtc { opus_bitrate 5; } }");
    EXPECT_EQ(loaded.settings.chunk_size, 128U);
    EXPECT_EQ(loaded.settings.vhosts[0].play.mw_msgs, 128U);
    EXPECT_EQ(loaded.settings.vhosts[0].rtc.opus_bitrate, 48'000U);
    EXPECT_EQ(loaded.warnings.size(), 3U) << all_warnings(loaded);
    EXPECT_EQ(good("listen 1935; chunk_size 65536; vhost a {}").warnings.size(), 0U);
    EXPECT_EQ(good("listen 1935; chunk_size 65537; vhost a {}").settings.chunk_size, 65'536U);
}

TEST(Settings, SourcesGetTheConversionOptionsOfRtc) {
    const auto bridge =
        vhost_of("rtc { enabled on; rtmp_to_rtc on; opus_bitrate 96000; keep_avc_nalu_sei off; pli_for_rtmp 3; }").play.bridge;
    EXPECT_TRUE(bridge.rtmp_to_rtc);
    EXPECT_FALSE(bridge.rtc_to_rtmp);
    EXPECT_FALSE(bridge.keep_bframe);
    EXPECT_FALSE(bridge.keep_avc_nalu_sei);
    EXPECT_EQ(bridge.opus_bitrate, 96'000U);
    EXPECT_EQ(bridge.aac_bitrate, 48'000U);
    EXPECT_EQ(bridge.pli_for_rtmp, 3s);
    EXPECT_FALSE(vhost_of("rtc { rtmp_to_rtc on; rtc_to_rtmp on; }").play.bridge.rtmp_to_rtc)
        << "without WebRTC nothing is converted";
    EXPECT_TRUE(vhost_of("rtc { enabled on; rtc_to_rtmp on; keep_bframe on; }").play.bridge.rtc_to_rtmp);
}

TEST(Settings, DurationsMayHaveFractionsInTheirUnit) {
    EXPECT_EQ(vhost_of("hls { hls_fragment 1.5; }").hls.fragment, 1500ms);
    EXPECT_EQ(vhost_of("play { send_min_interval 10.5; }").play.send_min_interval, 10'500us);
    EXPECT_EQ(vhost_of("publish { normal_timeout 7000; }").publish.normal_timeout, 7s);
    EXPECT_EQ(vhost_of("rtc { pli_for_rtmp 6.5; }").rtc.pli_for_rtmp, 6500ms);
    EXPECT_EQ(good("listen 1935; vhost a {} heartbeat { interval 9.3; }").settings.heartbeat.interval, 9300ms);
}

TEST(Settings, VhostInheritsTheRootsChunkSize) {
    const Settings settings = good("vhost a {} vhost b { chunk_size 4096; } listen 1935; chunk_size 1024;").settings;
    EXPECT_EQ(settings.find_vhost("a")->rtmp.chunk_size, 1024U);
    EXPECT_EQ(settings.find_vhost("b")->rtmp.chunk_size, 4096U);
}

TEST(Settings, MinLatencyChangesTheDefaultsOfMerging) {
    EXPECT_EQ(vhost_of("min_latency on;").play.mw_msgs, 0U);
    EXPECT_EQ(vhost_of("play { mw_latency 5; } min_latency on;").play.mw_msgs, 0U);
    EXPECT_EQ(vhost_of("min_latency on; play { mw_msgs 4; }").play.mw_msgs, 4U);
    EXPECT_FALSE(vhost_of("min_latency on; publish { mr on; }").publish.merged_read);
    EXPECT_TRUE(vhost_of("min_latency on;").publish.min_latency);
    EXPECT_FALSE(vhost_of("min_latency off;").publish.min_latency);
    EXPECT_EQ(vhost_of("").play.relay_mw_latency, 50ms);
    EXPECT_EQ(vhost_of("cluster { mode local; } min_latency on;").play.relay_mw_latency, 0ms);
    EXPECT_EQ(vhost_of("min_latency on; cluster { mw_latency 20; }").play.relay_mw_latency, 20ms);
    EXPECT_EQ(vhost_of("play { mw_latency 5; }").play.relay_mw_latency, 5ms) << "never longer than players'";
    EXPECT_TRUE(vhost_of("publish { mr on; }").publish.merged_read);
}

TEST(Settings, FindsVhostsByNameOrTheDefault) {
    const Settings settings = good("listen 1935; vhost __defaultVhost__ {} vhost a {} vhost off { enabled off; }").settings;
    EXPECT_EQ(settings.find_vhost("a")->name, "a");
    EXPECT_EQ(settings.find_vhost("b")->name, kDefaultVhost);
    EXPECT_FALSE(settings.find_vhost("off")->enabled);
    EXPECT_EQ(good("listen 1935; vhost a {}").settings.find_vhost("b"), nullptr);
}

TEST(Settings, FirstOfTwoTakesPrecedenceWithAWarning) {
    const LoadedSettings loaded = good(
        "listen 1935; chunk_size 1000; chunk_size 2000;\nvhost a { play { atc on; } play { atc off; } }\nvhost a { enabled off; "
        "}");
    EXPECT_EQ(loaded.settings.chunk_size, 1000U);
    ASSERT_EQ(loaded.settings.vhosts.size(), 1U);
    EXPECT_TRUE(loaded.settings.vhosts[0].enabled);
    EXPECT_TRUE(loaded.settings.vhosts[0].play.atc);
    const std::string warnings = all_warnings(loaded);
    EXPECT_TRUE(has(warnings, "a.conf:1:31: \"chunk_size\" is repeated; the first at a.conf:1:14 is used (line 1)")) << warnings;
    EXPECT_TRUE(has(warnings, "\"vhost.play\" is repeated")) << warnings;
    EXPECT_TRUE(
        has(warnings, "a.conf:3:1: \"vhost\" has the name \"a\" a second time, the first is at a.conf:2:1 and counts (line 3)"));
    EXPECT_EQ(loaded.warnings.size(), 3U) << warnings;
}

TEST(Settings, RepeatableBlocksAndRulesAreAllKept) {
    const Vhost vhost = vhost_of(
        "ingest one { enabled on; input { type stream; url rtmp://h/a/s; } ffmpeg ./f; engine { enabled off; output rtmp://o; } "
        "engine b { "
        "enabled on; vcodec libx264; vparams { g 100; an; } } } ingest two { } security { enabled on; allow play all; deny "
        "publish 10.0.0.0/8; "
        "deny play 1.2.3.4; } transcode live/s { } transcode { }");
    ASSERT_EQ(vhost.ingests.size(), 2U);
    EXPECT_EQ(vhost.ingests[0].id, "one");
    EXPECT_EQ(vhost.ingests[0].input_type, service::ingest::InputType::stream);
    EXPECT_EQ(vhost.ingests[0].input_url, "rtmp://h/a/s");
    ASSERT_EQ(vhost.ingests[0].engines.size(), 2U);
    EXPECT_EQ(vhost.ingests[0].engines[1].name, "b");
    EXPECT_EQ(vhost.ingests[0].engines[1].vparams, (service::ffmpeg::Arguments{{"g", "100"}, {"an", ""}}));
    EXPECT_EQ(vhost.security.deny, (std::vector<std::vector<std::string>>{{"publish", "10.0.0.0/8"}, {"play", "1.2.3.4"}}));
    ASSERT_EQ(vhost.transcodes.size(), 2U);
    EXPECT_EQ(vhost.transcodes[0].scope, "live/s");
}

TEST(Settings, AnIngestNeedsNoId) {
    const Vhost vhost = vhost_of("ingest { enabled on; input { url a; } } ingest one { } ingest { input { url b; } } ");
    ASSERT_EQ(vhost.ingests.size(), 3U);
    EXPECT_EQ(vhost.ingests[0].id, "#1");
    EXPECT_EQ(vhost.ingests[0].input_url, "a");
    EXPECT_EQ(vhost.ingests[2].id, "#3");
    EXPECT_EQ(vhost.ingests[2].input_url, "b");
}

TEST(Settings, WarnsOncePerLoadAboutUsedOptionsThatAreNotImplemented) {
    const LoadedSettings loaded = good(
        "listen 1935; vhost a { transcode { enabled on; } dash { enabled on; } hls { enabled on; } } "
        "query_latest_version on; in_docker off; http_server { enabled off; } circuit_breaker { enabled off; }");
    const std::string warnings = all_warnings(loaded);
    EXPECT_EQ(loaded.warnings.size(), 1U) << warnings;
    EXPECT_TRUE(has(warnings, "\"query_latest_version\" has no effect in this server")) << warnings;
}

TEST(Settings, CandidateTakesAllWordsOfAVariable) {
    const auto candidates = [](const config::Environment& environment) {
        return good("listen 1935; rtc_server { enabled on; candidate $CANDIDATE 192.0.2.9; }", environment)
            .settings.rtc_server.candidates;
    };
    EXPECT_EQ(candidates({{"CANDIDATE", "192.0.2.7  192.0.2.8"}}),
              (std::vector<std::string>{"192.0.2.7", "192.0.2.8", "192.0.2.9"}));
    EXPECT_EQ(candidates({{"CANDIDATE", " "}}), (std::vector<std::string>{"*", "192.0.2.9"}));
    EXPECT_EQ(candidates({}), (std::vector<std::string>{"*", "192.0.2.9"}));
}

TEST(Settings, WarnsAboutPartsOfCastersWithoutEffect) {
    EXPECT_TRUE(
        has(all_warnings(good("listen 1935; vhost a {} stream_caster { enabled on; caster rtsp; }")),
            "stream_caster rtsp accepts no streams: rtsp_server { enabled on; listen 554; } and vhost { rtsp { enabled on; } }"));
    EXPECT_TRUE(has(all_warnings(good("listen 1935; vhost a {} stream_caster { sip { timeout 5; } }")),
                    "\"stream_caster.sip\" has no effect in this server"));
}

TEST(Settings, GbCastersMayOmitTheirOutput) {
    const LoadedSettings loaded =
        good("listen 1935; vhost a {} stream_caster { enabled on; caster gb28181; listen 9000; media_connect_timeout 0.5; }");
    ASSERT_NE(loaded.settings.find_caster("gb28181"), nullptr);
    EXPECT_EQ(loaded.settings.find_caster("gb28181")->media_connect_timeout, 500ms);
    EXPECT_EQ(loaded.settings.find_caster("flv"), nullptr);
}

TEST(Settings, OurOwnDirectives) {
    const LoadedSettings loaded = good(
        "listen 1935; rtmps { enabled on; listen 1443; key k.pem; cert c.pem; } vhost a { publish { takeover on; } "
        "dvr { enabled on; dvr_format fmp4; } }");
    EXPECT_EQ(loaded.settings.vhosts[0].dvr.format, service::dvr::DvrFormat::fmp4);
    EXPECT_TRUE(loaded.settings.rtmps.enabled);
    EXPECT_EQ(loaded.settings.rtmps.tls.key, "k.pem");
    EXPECT_TRUE(loaded.settings.vhosts[0].publish.takeover);
    EXPECT_EQ(loaded.warnings.size(), 0U) << all_warnings(loaded);
}

TEST(Settings, RtmpBlockSetsListenAndChunkSize) {
    const Settings settings = good("rtmp { enabled on; listen 1935 19350; chunk_size 4000; } vhost a {}").settings;
    EXPECT_EQ(settings.listen, (std::vector<std::string>{"1935", "19350"}));
    EXPECT_EQ(settings.chunk_size, 4000U);
    EXPECT_EQ(settings.vhosts.at(0).rtmp.chunk_size, 4000U);
    // The newer form wins over the older one, and the environment over both.
    const std::string both = "listen 1; chunk_size 1000; rtmp { listen 2; chunk_size 2000; } vhost a {}";
    EXPECT_EQ(good(both).settings.listen, std::vector<std::string>{"2"});
    EXPECT_EQ(good(both).settings.chunk_size, 2000U);
    EXPECT_EQ(good(both, {{"SRS_LISTEN", "3"}, {"SRS_CHUNK_SIZE", "3000"}}).settings.listen, std::vector<std::string>{"3"});
    EXPECT_EQ(good(both, {{"SRS_CHUNK_SIZE", "3000"}}).settings.chunk_size, 3000U);
    EXPECT_EQ(good(both, {{"SRS_LISTEN", "3"}, {"SRS_RTMP_LISTEN", "4"}}).settings.listen, std::vector<std::string>{"4"});
    EXPECT_EQ(good("listen 1; vhost a {}", {{"SRS_RTMP_CHUNK_SIZE", "4000"}}).settings.vhosts.at(0).rtmp.chunk_size, 4000U);
}

TEST(Settings, RtmpCanBeOff) {
    EXPECT_TRUE(good("rtmp { enabled off; listen 1935; } vhost a {}").settings.listen.empty());
    EXPECT_TRUE(good("rtmp { enabled off; } vhost a {}").settings.listen.empty());
    EXPECT_TRUE(good("listen 1935; rtmp { enabled off; } vhost a {}").settings.listen.empty());
    EXPECT_TRUE(good("listen 1935; vhost a {}", {{"SRS_RTMP_ENABLED", "off"}}).settings.listen.empty());
    EXPECT_FALSE(good("rtmp { enabled off; listen 1935; } vhost a {}", {{"SRS_RTMP_ENABLED", "on"}}).settings.listen.empty());
}

TEST(Settings, TokenOfTheApiNeedsNoType) {
    const auto auth_of = [](const std::string& text, const config::Environment& environment = {}) {
        return good("listen 1; vhost a {} http_api { auth { " + text + " } }", environment).settings.http_api.auth;
    };
    const auto both = auth_of("enabled on; username u; password p;", {{"SRS_HTTP_API_AUTH_TOKEN", "t"}});
    EXPECT_TRUE(both.takes_token() && both.takes_password());
    const auto token = auth_of(
        "",
        {{"SRS_HTTP_API_AUTH_ENABLED", "on"}, {"SRS_HTTP_API_AUTH_TOKEN", "t"}, {"SRS_HTTP_API_AUTH_RTC_BEARER_ENABLED", "on"}});
    EXPECT_TRUE(token.takes_token() && token.rtc_bearer_enabled && !token.takes_password());
    EXPECT_FALSE(auth_of("enabled on; type bearer; token t; username u; password p;").takes_password());
    EXPECT_FALSE(auth_of("enabled on; type basic; token t; username u; password p;").takes_token());
}

TEST(Settings, TokenOfTheHeartbeatIsEnough) {
    const auto auth_of = [](const std::string& text, const config::Environment& environment = {}) {
        return good("listen 1; vhost a {} heartbeat { " + text + " }", environment).settings.heartbeat.auth;
    };
    EXPECT_TRUE(auth_of("", {{"SRS_HEARTBEAT_AUTH_TOKEN", "t"}}).enabled);
    EXPECT_TRUE(auth_of("auth { token t; }").enabled);
    EXPECT_FALSE(auth_of("auth { enabled off; }", {{"SRS_HEARTBEAT_AUTH_TOKEN", "t"}}).enabled);
    EXPECT_FALSE(auth_of("").enabled);
}

TEST(Settings, AServerWithoutVhostsWarns) {
    EXPECT_TRUE(has(all_warnings(good("listen 1935;")), "every client will be refused"));
}

TEST(Environment, TakesPrecedenceOverTheFile) {
    const LoadedSettings loaded = good("listen 1935; max_connections 10; vhost a { play { gop_cache on; } } vhost b {}",
                                       {{"SRS_LISTEN", "1936 [::1]:1937"},
                                        {"SRS_MAX_CONNECTIONS", "20"},
                                        {"SRS_VHOST_PLAY_GOP_CACHE", "off"},
                                        {"SRS_VHOST_HLS_HLS_FRAGMENT", "4"},
                                        {"SRS_VHOST_MIN_LATENCY", "on"},
                                        {"SRS_HTTP_API_ENABLED", "on"},
                                        {"SRS_VHOST_HTTP_HOOKS_ON_PUBLISH", "http://a/x  http://b/y"},
                                        {"SRS_DAEMON", ""},
                                        {"HOME", "/"}});
    const Settings& settings = loaded.settings;
    EXPECT_EQ(settings.listen, (std::vector<std::string>{"1936", "[::1]:1937"}));
    EXPECT_EQ(settings.max_connections, 20U);
    EXPECT_TRUE(settings.daemon) << "an empty variable counts as unset";
    EXPECT_TRUE(settings.http_api.enabled);
    for (const Vhost& vhost : settings.vhosts) {
        EXPECT_FALSE(vhost.play.gop_cache) << vhost.name;
        EXPECT_EQ(vhost.hls.fragment, 4s);
        EXPECT_EQ(vhost.play.mw_msgs, 0U);
        EXPECT_EQ(vhost.http_hooks.on_publish, (std::vector<std::string>{"http://a/x", "http://b/y"}));
    }
    EXPECT_EQ(loaded.environment_used.size(), 7U);
    EXPECT_EQ(loaded.warnings.size(), 0U) << all_warnings(loaded);
}

TEST(Environment, OldAndShortNamesAreAccepted) {
    EXPECT_EQ(good("listen 1; vhost a {}", {{"SRS_LOG_TANK", "console"}}).settings.log.tank, LogTank::console);
    EXPECT_EQ(good("listen 1; vhost a {}", {{"SRS_SRS_LOG_TANK", "console"}}).settings.log.tank, LogTank::console);
    EXPECT_EQ(good("listen 1; vhost a {}", {{"SRS_LOG_LEVEL", "warn"}}).settings.log.level, "warn");
    EXPECT_EQ(good("listen 1; vhost a {}", {{"SRS_LOG_LEVEL_V2", "debug"}}).settings.log.level_v2, "debug");
    EXPECT_EQ(good("listen 1; vhost a {}", {{"SRS_LOG_FILE", "x.log"}}).settings.log.file, "x.log");
    EXPECT_EQ(good("listen 1; vhost a {}", {{"SRS_LOG_MAX_SIZE", "7"}}).settings.log.max_size, 7U);
    EXPECT_EQ(good("listen 1; srs_log_backups 5; vhost a {}", {{"SRS_SRS_LOG_BACKUPS", "0"}}).settings.log.backups, 0U);
    EXPECT_EQ(good("listen 1; access_log y.log; vhost a {}", {{"SRS_ACCESS_LOG", "off"}}).settings.access_log, "off");
    for (const char* name : {"SRS_CHUNK_SIZE", "SRS_VHOST_CHUNK_SIZE"}) {
        const Settings settings = good("listen 1; chunk_size 500; vhost a {}", {{name, "4096"}}).settings;
        EXPECT_EQ(settings.chunk_size, 4096U) << name;
        EXPECT_EQ(settings.vhosts[0].rtmp.chunk_size, 4096U) << name;
    }
    EXPECT_FALSE(vhost_of("", {{"SRS_VHOST_SRT_TO_RTMP", "off"}}).srt.srt_to_rtmp);
    EXPECT_FALSE(vhost_of("", {{"SRS_VHOST_SRT_SRT_TO_RTMP", "off"}}).srt.srt_to_rtmp);
}

TEST(Settings, AClusterIsForEveryVirtualHost) {
    const Settings settings =
        good("listen 1; cluster { registry redis://h; secret s; } vhost a { } vhost b { cluster { secret t; } }",
             {{"SRS_CLUSTER_NODE_ID", "n1"}, {"SRS_CLUSTER_LEASE", "6"}})
            .settings;
    EXPECT_EQ(settings.cluster.node_id, "n1");
    EXPECT_EQ(settings.cluster.lease, 6s);
    EXPECT_TRUE(settings.vhosts[0].cluster.by_registry && settings.vhosts[1].cluster.by_registry);
    EXPECT_EQ(settings.vhosts[0].cluster.secret + settings.vhosts[1].cluster.secret, "st");
    EXPECT_FALSE(good("listen 1; vhost a { }").settings.vhosts[0].cluster.by_registry);
}

TEST(Environment, ConfiguresAClusterNodeWithoutAFile) {
    const auto cluster = good("listen 1; vhost a { }", {{"SRS_CLUSTER_REGISTRY", "redis://h"},
                                                        {"SRS_CLUSTER_NODE_ID", "n1"},
                                                        {"SRS_CLUSTER_ADVERTISE", "192.0.2.1:1936"},
                                                        {"SRS_CLUSTER_REGION", "eu"},
                                                        {"SRS_CLUSTER_BEAT", "3"},
                                                        {"SRS_CLUSTER_LEASE", "9"},
                                                        {"SRS_CLUSTER_SECRET", "hush"},
                                                        {"SRS_CLUSTER_REDIRECT", "on"},
                                                        {"SRS_CLUSTER_PUBLISHERS", "off"},
                                                        {"SRS_CLUSTER_CAPACITY", "1000"},
                                                        {"SRS_CLUSTER_DRAIN_LIMIT", "30"}})
                             .settings.cluster;
    EXPECT_EQ(cluster.registry + " " + cluster.node_id + " " + cluster.advertise + " " + cluster.region + " " + cluster.secret,
              "redis://h n1 192.0.2.1:1936 eu hush");
    EXPECT_TRUE(cluster.beat == 3s && cluster.lease == 9s && cluster.drain_limit == 30s);
    EXPECT_TRUE(cluster.redirect && !cluster.publishers);
    EXPECT_EQ(cluster.capacity, 1000U);
}

TEST(Environment, ConfiguresAnEdgeWithoutAFile) {
    const auto cluster = vhost_of("", {{"SRS_VHOST_CLUSTER_MODE", "remote"},
                                       {"SRS_VHOST_CLUSTER_ORIGIN", "a:1935 dns:b"},
                                       {"SRS_VHOST_CLUSTER_PROTOCOL", "flvs"},
                                       {"SRS_VHOST_CLUSTER_FOLLOW_CLIENT", "on"},
                                       {"SRS_VHOST_CLUSTER_VHOST", "o.example"},
                                       {"SRS_VHOST_CLUSTER_TOKEN_TRAVERSE", "on"},
                                       {"SRS_VHOST_CLUSTER_DEBUG_SRS_UPNODE", "off"},
                                       {"SRS_VHOST_CLUSTER_ORIGIN_CLUSTER", "on"},
                                       {"SRS_VHOST_CLUSTER_COWORKERS", "c:1985"},
                                       {"SRS_VHOST_CLUSTER_BACKEND", "http://d/"},
                                       {"SRS_VHOST_CLUSTER_SECRET", "s"},
                                       {"SRS_VHOST_CLUSTER_LINGER", "1"},
                                       {"SRS_VHOST_CLUSTER_FIRST_FRAME_TIMEOUT", "2"},
                                       {"SRS_VHOST_CLUSTER_PUBLISH_RETRY", "3"},
                                       {"SRS_VHOST_CLUSTER_MW_LATENCY", "4"}})
                             .cluster;
    EXPECT_EQ(cluster.mode, service::relay::ClusterMode::remote);
    EXPECT_EQ(cluster.origin, (std::vector<std::string>{"a:1935", "dns:b"}));
    EXPECT_EQ(cluster.protocol, service::relay::PullProtocol::flvs);
    EXPECT_TRUE(cluster.follow_client && cluster.token_traverse && cluster.origin_cluster && !cluster.debug_srs_upnode);
    EXPECT_EQ(cluster.vhost + " " + cluster.backend + " " + cluster.secret, "o.example http://d/ s");
    EXPECT_EQ(cluster.coworkers, std::vector<std::string>{"c:1985"});
    EXPECT_EQ(std::tuple(cluster.linger, cluster.first_frame_timeout, cluster.publish_retry, cluster.mw_latency),
              std::tuple(1'000ms, 2'000ms, 3'000ms, 4ms));
}

TEST(Environment, SomeBlocksAreNotAvailable) {
    const LoadedSettings loaded = good("listen 1; vhost a {}", {{"SRS_VHOST_FORWARD_ENABLED", "on"},
                                                                {"SRS_VHOST_SECURITY_ENABLED", "on"},
                                                                {"SRS_VHOST_REFER_ENABLED", "on"},
                                                                {"SRS_VHOST_EXEC_ENABLED", "on"},
                                                                {"SRS_VHOST_DVR_DVR_APPLY", "live/a"},
                                                                {"SRS_STATS_ENABLED", "off"}});
    const Vhost& vhost = loaded.settings.vhosts[0];
    EXPECT_FALSE(vhost.forward.enabled || vhost.security.enabled || vhost.refer.enabled || vhost.exec.enabled);
    EXPECT_EQ(vhost.dvr.apply, std::vector<std::string>{"all"});
    EXPECT_TRUE(loaded.settings.stats.enabled);
    EXPECT_EQ(loaded.warnings.size(), 6U) << all_warnings(loaded);
}

TEST(Environment, WarnsAboutMistypedVariablesButNotServiceLinks) {
    const LoadedSettings loaded = good("listen 1; vhost a {}", {{"SRS_MAX_CONECTIONS", "5"},
                                                                {"SRS_SERVICE_HOST", "10.0.0.1"},
                                                                {"SRS_PORT_1935_TCP", "tcp://10.0.0.1:1935"},
                                                                {"SRS_CONFIG_FILE", "x.conf"}});
    EXPECT_EQ(all_warnings(loaded),
              "environment variable SRS_MAX_CONECTIONS sets nothing, did you mean \"SRS_MAX_CONNECTIONS\"?\n");
}

TEST(Environment, ErrorNamesTheVariable) {
    const auto loaded = load_text("listen 1; vhost a {}", {{"SRS_MAX_CONNECTIONS", "many"}});
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().sentence(),
              "environment variable SRS_MAX_CONNECTIONS: found \"many\" for \"max_connections\", expected a whole number from "
              "1..1000000");
}

TEST(Environment, NeedsNoFile) {
    LoadInput input;
    input.env_only = true;
    input.environment = {{"SRS_VHOST_PLAY_GOP_CACHE", "off"}};
    const auto nothing = [](const std::string&) -> Result<std::string> { return Error(Errc::not_found, "must not be read"); };
    LoadedSettings loaded = MUST(load_settings(input, nothing));
    EXPECT_FALSE(loaded.settings.daemon);
    EXPECT_EQ(loaded.settings.log.tank, LogTank::console);
    EXPECT_EQ(loaded.settings.listen, std::vector<std::string>{"1935"});
    ASSERT_NE(loaded.settings.find_vhost("x"), nullptr);
    EXPECT_FALSE(loaded.settings.find_vhost("x")->play.gop_cache);
    EXPECT_EQ(all_warnings(loaded), "neither SRS_LISTEN nor SRS_RTMP_LISTEN is set: RTMP listens on 1935\n");

    input.environment = {{"SRS_LISTEN", "1940"}, {"SRS_LOG_TANK", "file"}, {"SRS_DAEMON", "on"}};
    loaded = MUST(load_settings(input, nothing));
    EXPECT_EQ(loaded.settings.listen, std::vector<std::string>{"1940"});
    EXPECT_EQ(loaded.settings.log.tank, LogTank::file);
    EXPECT_TRUE(loaded.settings.daemon);
}

TEST(Container, DisablesDaemonAndLogsToTheConsole) {
    const Settings inside = good("listen 1; in_docker on; vhost a {}").settings;
    EXPECT_FALSE(inside.daemon);
    EXPECT_TRUE(inside.inotify_auto_reload);
    EXPECT_EQ(inside.log.tank, LogTank::console);
    const Settings kept =
        good("listen 1; in_docker on; disable_daemon_for_docker off; auto_reload_for_docker off; srs_log_tank file; vhost a {}")
            .settings;
    EXPECT_TRUE(kept.daemon);
    EXPECT_FALSE(kept.inotify_auto_reload);
    EXPECT_EQ(kept.log.tank, LogTank::file);
}

TEST(Candidate, UnsetVariableMeansStar) {
    EXPECT_EQ(good("listen 1; vhost a {} rtc_server { candidate $NOT_SET; }").settings.rtc_server.candidates,
              std::vector<std::string>{"*"});
}

TEST(Settings, MissingFileIsAnError) {
    LoadInput input;
    input.path = "/nonexistent/a.conf";
    EXPECT_EQ(load_settings(input).error().sentence(), "cannot open /nonexistent/a.conf: No such file or directory (2)");
    input.path = "/";
    EXPECT_TRUE(has(load_settings(input).error().sentence(), "is a directory"));
}

TEST(Settings, CastersOfTransportStreamsAreChecked) {
    const auto caster = [](const std::string& inside) {
        return "listen 1935; vhost a {} stream_caster { enabled on; caster mpegts_over_udp; " + inside + " }";
    };
    const auto loaded = good(caster("listen 239.1.1.1@192.0.2.7:8935/eth0 8936; output rtmp://127.0.0.1/live/[port];"));
    EXPECT_EQ(loaded.settings.stream_casters.at(0).listen.size(), 2U);
    EXPECT_EQ(all_warnings(loaded), "");
    EXPECT_TRUE(has(error_of(caster("output rtmp://127.0.0.1/live/x;")), "has no listen"));
    EXPECT_TRUE(has(error_of(caster("listen 70000; output rtmp://127.0.0.1/live/x;")), "found \"70000\""));
    EXPECT_TRUE(has(error_of(caster("listen 10.0.0.1@1.2.3.4:5; output rtmp://127.0.0.1/live/x;")), "multicast group"));
    EXPECT_TRUE(has(error_of(caster("listen 8935; output rtmp://127.0.0.1/live/[stream];")), "[port] may stand"));
    EXPECT_TRUE(has(error_of(caster("listen 8935 8936; output rtmp://127.0.0.1/live/x;")), "from two addresses"));
    EXPECT_TRUE(
        has(error_of("listen 1935; vhost a {} stream_caster { enabled on; caster flv; listen 1.2.3.4:5/x; }"), "1.2.3.4:5/x"));
    EXPECT_EQ(error_of("listen 1935; vhost a {} stream_caster { enabled off; caster mpegts_over_udp; }"), "");
}

TEST(LoadSettings, CountsWorkers) {
    EXPECT_EQ(MUST(worker_count("1", 8)), 1U);
    EXPECT_EQ(MUST(worker_count("64", 8)), 64U);
    EXPECT_EQ(MUST(worker_count("auto", 8)), 8U);
    EXPECT_EQ(MUST(worker_count("auto", 0)), 1U);
    EXPECT_EQ(MUST(worker_count("auto", 1000)), kWorkersMax);
    for (const char* text : {"", "0", "65", "-1", "2x", "automatic"})
        EXPECT_EQ(worker_count(text, 8).code(), Errc::malformed) << text;
    EXPECT_FALSE(good("listen 1; vhost a {}").settings.vhosts[0].cluster.by_registry);
    EXPECT_TRUE(good("listen 1; workers 2; vhost a {}").settings.vhosts[0].cluster.by_registry);
}

}  // namespace
}  // namespace live::settings
