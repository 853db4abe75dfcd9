#include "settings/load.hpp"

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

TEST(Settings, TheApiListensOnLoopbackUntilTheConfSaysOtherwise) {
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

TEST(Settings, TheSampleOfTheDocumentMeansWhatItSays) {
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

TEST(Settings, ErrorsSayWhereWhatWasFoundAndTheNearestName) {
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

TEST(Settings, RulesBetweenOptionsAreChecked) {
    struct LoadCase {
        const char* text;
        const char* part;
    };
    const LoadCase cases[] = {
        {"is_full on;", "is_full is on"},
        {"srs_log_file \"\";", "srs_log_file is empty"},
        {"access_log \"\";", "access_log is empty; off switches it off"},
        {"workers 65;", "workers is \"65\", expected 1..64 or auto"},
        {"workers 2; cluster { registry redis://127.0.0.1; }", "workers is more than 1 and cluster.registry is set"},
        {"asprocess on;", "asprocess and daemon exclude each other"},
        {"heartbeat { interval 0; }", "heartbeat.interval"},
        {"http_api { https { enabled on; } }", "http_api.https is on and http_api is off"},
        {"http_api { auth { enabled on; } }", "http_api.auth is on and lacks username or password"},
        {"http_api { auth { enabled on; username a; } }", "http_api.auth is on and lacks username or password"},
        {"http_api { auth { enabled on; type bearer; username a; password b; } }", "type bearer and has no token"},
        {"http_server { https { enabled on; } }", "http_server.https is on and http_server is off"},
        {"http_api { enabled on; listen 8080; https { enabled on; listen 1990; } } http_server { enabled on; https { enabled on; "
         "} }",
         "must share the other endpoint too"},
        {"http_api { enabled on; listen 1985; https { enabled on; listen 8088; } } http_server { enabled on; https { enabled on; "
         "} }",
         "must share the other endpoint too"},
        {"srt_server { passphrase short; }", "srt_server.passphrase has 5 characters"},
        {"srt_server { pbkeylen 17; }", "srt_server.pbkeylen is 17, expected 0, 16, 24 or 32"},
        {"srt_server { default_streamid m=publish,t=file; default_app a$b; }", "srt_server.default_streamid"},
        {"srt_server { payloadsize 187; }", "expected"},
        {"vhost v { srt { passphrase short; } }", "vhost v: srt.passphrase has 5 characters"},
        {"vhost v { publish { kickoff_for_idle 5; } forward { enabled on; destination 127.0.0.1; } }", "exclude each other"},
        {"vhost v { hls { enabled on; } http_remux { enabled on; mount /*.ts; } }", "exclude each other"},
        {"vhost v { http_remux { enabled on; mount [vhost]/[app]/[stream].avi; } }", "must be"},
        {"vhost v { ingest a { } ingest a { } }", "has the id \"a\" a second time"},
        {"vhost v { ingest a { engine e { vwidth 767; } } }", "expected even numbers"},
        {"vhost v { transcode { engine e { acodec aac; abitrate 5; } } }", "expected 16..320"},
        {"vhost v { security { deny everybody; } }", "found the rule \"everybody\""},
        {"vhost v { security { allow play 10.0.0.0/33; } }", "\"10.0.0.0/33\" is neither an address nor a network"},
        {"vhost v { http_hooks { enabled on; on_play 127.0.0.1:8085/x; } }", "vhost v: http_hooks: found \"127.0.0.1:8085/x\""},
        {"vhost v { forward { enabled on; backend http://h:0/; } }", "vhost v: forward.backend: found \"http://h:0/\""},
        {"heartbeat { enabled on; url nowhere; }", "heartbeat.url: found \"nowhere\""},
        {"cluster { registry http://h; }", "cluster.registry: "},
        {"cluster { registry redis://h; node_id a/b; }", "cluster.node_id is \"a/b\""},
        {"cluster { registry redis://h; region a/b; }", "cluster.region is \"a/b\""},
        {"cluster { registry redis://h; advertise a/b; }", "cluster.advertise is \"a/b\""},
        {"cluster { registry redis://h; beat 5; lease 9; }", "cluster.lease"},
        {"cluster { beat 0.5; }", "beat"},
        {"vhost v { cluster { mode remote; } }", "vhost v: cluster.mode is remote and there is no origin"},
        {"workers 2; vhost v { cluster { mode remote; } }", "there is no origin"},
        {"vhost v { cluster { mode remote; origin ; } }", "found no value behind \"origin\""},
        {"vhost v { cluster { mode remote; origin h:0 rtmp://; } }", "vhost v: cluster: origin \"h:0\""},
        {"vhost v { cluster { backend nowhere; } }", "vhost v: cluster.backend: found \"nowhere\""},
        {"vhost v { forward { enabled on; destination ; } }", "found no value behind \"destination\""},
        {"vhost v { forward ; }", "found no value behind \"destination\""},
        {"vhost v { forward { enabled on; destination h:0 rtmp://; } }", "vhost v: forward: forward destination \"h:0\""},
        {"vhost v { hls { enabled true; } }", "found \"true\" for \"enabled\", expected on or off"},
        {"vhost v { dvr { enabled on; dvr_path x.mkv; } }",
         "vhost v: dvr_path is \"x.mkv\", expected a name that ends in .flv or .mp4"},
        {"vhost v { dvr { dvr_path ; } }", "found no value behind \"dvr_path\""},
        {"vhost v { hls { hls_path ; } }", "found no value behind \"hls_path\""},
        {"vhost v { hls { enabled on; hls_ts_file [app]/[stream].ts; } }", "vhost v: hls_ts_file is \"[app]/[stream].ts\""},
        {"vhost v { hls { enabled on; hls_use_fmp4 on; hls_fmp4_file a.m4s; } }", "vhost v: hls_fmp4_file is \"a.m4s\""},
        {"vhost v { http_hooks { enabled on; on_hls_notify nowhere/[app]; } }", "vhost v: http_hooks.on_hls_notify: found"},
        {"vhost v { http_hooks { on_play ; } }", "found no value behind \"on_play\""},
        {"vhost v { ingest a { enabled on; engine { output rtmp://127.0.0.1/live/a; } } }", "ingest a of v has no input url"},
        {"vhost v { ingest a { enabled on; input { url a; } engine { } } }", "ingest a of v has an engine without an output"},
        {"rtc_server { enabled on; candidate not_an_ip!; }", "rtc_server: candidate has \"not_an_ip!\""},
        {"rtc_server { enabled on; candidate 192.0.2.1 1.2.3.4:x; }", "rtc_server: candidate has \"1.2.3.4:x\""},
        {"stream_caster { enabled on; }", "stream_caster is on and has no caster"},
        {"stream_caster { enabled on; caster flv; output rtmp://h/[app]/[stream]; }",
         "stream_caster flv is on and has no listen"},
        {"stream_caster { enabled on; caster flv; listen 8936; output nowhere; }", "stream_caster flv: output is \"nowhere\""},
        {"http_api { enabled on; listen 1935; }", "listen and http_api.listen both listen on port 1935"},
        {"http_server { enabled on; listen 127.0.0.1:1935; }", "listen and http_server.listen both listen on port 1935"},
        {"rtmps { enabled on; listen [::1]:1935; }", "listen and rtmps.listen both listen on port 1935"},
        {"vhost v { dvr { dvr_plan append; } }", "expected one of session, segment"},
        {"vhost v { dvr { dvr_format mkv; } }", "expected one of auto, fmp4"},
    };
    for (const LoadCase& one : cases) {
        EXPECT_TRUE(has(error_of(std::string("listen 1935; ") + one.text), one.part))
            << one.text << " -> " << error_of(std::string("listen 1935; ") + one.text);
    }
    for (const char* fine : {
             "cluster { registry redis://127.0.0.1; } vhost v { cluster { mode remote; } }",
             "vhost v { cluster { mode remote; backend http://127.0.0.1/x; } }",
             "vhost v { cluster { mode remote; origin h:0 192.0.2.1; } }",
             "vhost v { enabled off; cluster { mode remote; } }",
             "vhost v { forward { enabled on; destination h:0 192.0.2.1; } }",
             "vhost v { forward { enabled on; } }",
             "vhost v { forward { enabled on; destination \"\"; } }",
             "vhost v { dvr { dvr_path x.mkv; } }",
             "vhost v { dvr { enabled on; dvr_path ./rec.d/[app]; } }",
             "vhost v { hls { enabled on; hls_use_fmp4 off; hls_fmp4_file a.m4s; } }",
             "vhost v { hls { enabled on; hls_ts_file [stream]-[2006][01][02][15][04][05].ts; } }",
             "rtc_server { candidate not_an_ip!; }",
             "rtc_server { enabled on; candidate * 0.0.0.0 192.0.2.1:8000 [2001:db8::1]:8000 media.example.com; }",
             "stream_caster { enabled on; caster rtsp; listen 554; output rtmp://127.0.0.1/[app]/[stream]; rtp_port_min 57200; }",
             "stream_caster { enabled on; caster gb28181; listen 9000; host *; }",
             "vhost v { ingest a { enabled on; input { url a; } engine x { } engine y { output rtmp://127.0.0.1/live/a; } } }",
             "ff_log_level ;",
             "query_latest_version yes;",
             "http_api { enabled on; listen 8080; } http_server { enabled on; listen 8080; }",
             "http_api { enabled on; listen 127.0.0.1:1986; } http_server { enabled on; listen 127.0.0.2:1986; }",
         })
        EXPECT_EQ(error_of(std::string("listen 1935; ") + fine), "") << fine;
    EXPECT_TRUE(error_of("listen 1935; asprocess on;").starts_with("a.conf: ")) << "the file is named";
    EXPECT_EQ(error_of("listen 1935; asprocess on; daemon off;"), "");
    EXPECT_EQ(error_of("listen 1935; http_api { enabled on; listen 8080; https { enabled on; listen 8088; } } "
                       "http_server { enabled on; https { enabled on; } }"),
              "");
    LoadInput input;
    input.path = "a.conf";
    input.local_addresses = 2;
    const auto read = [](const std::string&) -> Result<std::string> { return std::string("listen 1935; stats { network 2; }"); };
    EXPECT_TRUE(has(load_settings(input, read).error().sentence(), "stats.network is 2, expected less than 2"));
    input.local_addresses = 3;
    EXPECT_TRUE(load_settings(input, read).ok());
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

TEST(Settings, AVhostHasTheRootsChunkSizeUntilItSaysItsOwn) {
    const Settings settings = good("vhost a {} vhost b { chunk_size 4096; } listen 1935; chunk_size 1024;").settings;
    EXPECT_EQ(settings.find_vhost("a")->rtmp.chunk_size, 1024U);
    EXPECT_EQ(settings.find_vhost("b")->rtmp.chunk_size, 4096U);
}

TEST(Settings, MinLatencyChangesTheDefaultsOfMerging) {
    EXPECT_EQ(vhost_of("min_latency on;").play.mw_msgs, 0U);
    EXPECT_EQ(vhost_of("play { mw_latency 5; } min_latency on;").play.mw_msgs, 0U);
    EXPECT_EQ(vhost_of("min_latency on; play { mw_msgs 4; }").play.mw_msgs, 4U);
    EXPECT_FALSE(vhost_of("min_latency on; publish { mr on; }").publish.merged_read);
    EXPECT_EQ(vhost_of("").play.relay_mw_latency, 50ms);
    EXPECT_EQ(vhost_of("cluster { mode local; } min_latency on;").play.relay_mw_latency, 0ms);
    EXPECT_EQ(vhost_of("min_latency on; cluster { mw_latency 20; }").play.relay_mw_latency, 20ms);
    EXPECT_EQ(vhost_of("play { mw_latency 5; }").play.relay_mw_latency, 5ms) << "never longer than players'";
    EXPECT_TRUE(vhost_of("publish { mr on; }").publish.merged_read);
}

TEST(Settings, AVhostIsFoundByNameElseTheDefaultOne) {
    const Settings settings = good("listen 1935; vhost __defaultVhost__ {} vhost a {} vhost off { enabled off; }").settings;
    EXPECT_EQ(settings.find_vhost("a")->name, "a");
    EXPECT_EQ(settings.find_vhost("b")->name, kDefaultVhost);
    EXPECT_FALSE(settings.find_vhost("off")->enabled);
    EXPECT_EQ(good("listen 1935; vhost a {}").settings.find_vhost("b"), nullptr);
}

TEST(Settings, TheFirstOfTwoCountsAndTheSecondIsWarnedAbout) {
    const LoadedSettings loaded = good(
        "listen 1935; chunk_size 1000; chunk_size 2000;\nvhost a { play { atc on; } play { atc off; } }\nvhost a { enabled off; "
        "}");
    EXPECT_EQ(loaded.settings.chunk_size, 1000U);
    ASSERT_EQ(loaded.settings.vhosts.size(), 1U);
    EXPECT_TRUE(loaded.settings.vhosts[0].enabled);
    EXPECT_TRUE(loaded.settings.vhosts[0].play.atc);
    const std::string warnings = all_warnings(loaded);
    EXPECT_TRUE(has(warnings, "a.conf:1:31: \"chunk_size\" is said a second time, the first at a.conf:1:14 counts (line 1)"))
        << warnings;
    EXPECT_TRUE(has(warnings, "\"vhost.play\" is said a second time")) << warnings;
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

TEST(Settings, WhatDoesNothingYetIsSaidOncePerLoadAndOnlyWhenInUse) {
    const LoadedSettings loaded = good(
        "listen 1935; vhost a { rtsp { enabled on; } dash { enabled on; } hls { enabled on; } } vhost b { rtsp { enabled on; } } "
        "query_latest_version on; in_docker off; http_server { enabled off; } circuit_breaker { enabled off; }");
    const std::string warnings = all_warnings(loaded);
    EXPECT_EQ(loaded.warnings.size(), 2U) << warnings;
    EXPECT_TRUE(has(warnings, "\"vhost.rtsp\" is understood and does nothing yet")) << warnings;
    EXPECT_TRUE(has(warnings, "\"query_latest_version\" is understood and has no effect in this server")) << warnings;
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

TEST(Settings, WarnsAboutCastersThatAreNotImplemented) {
    for (const char* caster : {"rtsp", "gb28181"})
        EXPECT_TRUE(
            has(all_warnings(good(std::string("listen 1935; vhost a {} stream_caster { enabled on; caster ") + caster + "; }")),
                std::string("stream_caster ") + caster + " is not implemented"))
            << caster;
    EXPECT_TRUE(has(all_warnings(good("listen 1935; vhost a {} stream_caster { sip { timeout 5; } media_connect_timeout 5; }")),
                    "\"stream_caster.sip\" is understood and does nothing yet"));
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

TEST(Settings, TheRtmpBlockIsTheRootsListen) {
    const Settings settings = good("rtmp { enabled on; listen 1935 19350; chunk_size 4000; } vhost a {}").settings;
    EXPECT_EQ(settings.listen, (std::vector<std::string>{"1935", "19350"}));
    EXPECT_EQ(settings.chunk_size, 4000U);
    EXPECT_TRUE(good("rtmp { enabled off; listen 1935; } vhost a {}").settings.listen.empty());
}

TEST(Settings, AServerWithoutVhostsWarns) {
    EXPECT_TRUE(has(all_warnings(good("listen 1935;")), "every client will be refused"));
}

TEST(Environment, WinsOverTheFile) {
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

TEST(Environment, ANodeOfAClusterNeedsNoFile) {
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

TEST(Environment, AnEdgeNeedsNoFile) {
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

TEST(Environment, AMistypedVariableIsWarnedAboutAndAServiceLinkIsNot) {
    const LoadedSettings loaded = good("listen 1; vhost a {}", {{"SRS_MAX_CONECTIONS", "5"},
                                                                {"SRS_SERVICE_HOST", "10.0.0.1"},
                                                                {"SRS_PORT_1935_TCP", "tcp://10.0.0.1:1935"},
                                                                {"SRS_CONFIG_FILE", "x.conf"}});
    EXPECT_EQ(all_warnings(loaded),
              "environment variable SRS_MAX_CONECTIONS sets nothing, did you mean \"SRS_MAX_CONNECTIONS\"?\n");
}

TEST(Environment, ABadValueNamesItsVariable) {
    const auto loaded = load_text("listen 1; vhost a {}", {{"SRS_MAX_CONNECTIONS", "many"}});
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().sentence(),
              "environment variable SRS_MAX_CONNECTIONS: found \"many\" for \"max_connections\", expected a whole number from "
              "1..1000000");
}

TEST(Environment, AloneItIsEnough) {
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
    EXPECT_EQ(all_warnings(loaded), "SRS_LISTEN is not set: RTMP listens on 1935\n");

    input.environment = {{"SRS_LISTEN", "1940"}, {"SRS_LOG_TANK", "file"}, {"SRS_DAEMON", "on"}};
    loaded = MUST(load_settings(input, nothing));
    EXPECT_EQ(loaded.settings.listen, std::vector<std::string>{"1940"});
    EXPECT_EQ(loaded.settings.log.tank, LogTank::file);
    EXPECT_TRUE(loaded.settings.daemon);
}

TEST(Container, TakesTheDaemonAwayAndLogsToTheConsole) {
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

TEST(Candidate, AnUnsetVariableIsAStar) {
    EXPECT_EQ(good("listen 1; vhost a {} rtc_server { candidate $NOT_SET; }").settings.rtc_server.candidates,
              std::vector<std::string>{"*"});
}

TEST(Settings, AFileThatIsNotThereIsAnError) {
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
