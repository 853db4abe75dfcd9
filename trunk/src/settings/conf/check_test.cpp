#include "settings/conf/check.hpp"

#include <gtest/gtest.h>

#include <span>

#include "settings/conf/load.hpp"

namespace live::settings {
namespace {

std::string refusal_of(const std::string& text) {
    LoadInput input;
    input.path = "a.conf";
    const auto loaded = load_settings(input, [&text](const std::string&) -> Result<std::string> { return text; });
    return loaded.ok() ? "" : loaded.error().sentence();
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct RuleCase {
    const char* text;
    const char* part;
};

constexpr RuleCase kServerRules[] = {
    {"is_full on;", "is_full is on"},
    {"srs_log_file \"\";", "srs_log_file is empty"},
    {"access_log \"\";", "access_log is empty; off switches it off"},
    {"workers 65;", "workers is \"65\", expected 1..64 or auto"},
    {"workers 2; cluster { registry redis://127.0.0.1; }", "workers is more than 1 and cluster.registry is set"},
    {"asprocess on;", "asprocess and daemon exclude each other"},
    {"heartbeat { interval 0; }", "heartbeat.interval"},
    {"http_api { https { enabled on; } }", "http_api.https is on and http_api is off"},
    {"http_api { auth { enabled on; } }",
     "http_api.auth is on and has no token, nor username and password: set SRS_HTTP_API_AUTH_TOKEN"},
    {"http_api { auth { enabled on; username a; } }", "has no token, nor username and password"},
    {"http_api { auth { enabled on; type basic; token t; } }", "http_api.auth is on and lacks username or password"},
    {"http_api { auth { enabled on; username a; password b; rtc_bearer_enabled on; } }",
     "rtc_bearer_enabled is on and there is no token"},
    {"heartbeat { enabled on; auth { enabled on; } }",
     "heartbeat.auth is on and has no token: set it, or SRS_HEARTBEAT_AUTH_TOKEN"},
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
    {"tracing { enabled on; url nowhere; }", "tracing.url: found \"nowhere\""},
    {"heartbeat { enabled on; url nowhere; }", "heartbeat.url: found \"nowhere\""},
    {"cluster { registry http://h; }", "cluster.registry: "},
    {"cluster { registry redis://h; node_id a/b; }", "cluster.node_id is \"a/b\""},
    {"cluster { registry redis://h; region a/b; }", "cluster.region is \"a/b\""},
    {"cluster { registry redis://h; advertise a/b; }", "cluster.advertise is \"a/b\""},
    {"cluster { registry redis://h; beat 5; lease 9; }", "cluster.lease"},
    {"cluster { beat 0.5; }", "beat"},
    {"rtc_server { enabled on; candidate not_an_ip!; }", "rtc_server: candidate has \"not_an_ip!\""},
    {"rtc_server { enabled on; candidate 192.0.2.1 1.2.3.4:x; }", "rtc_server: candidate has \"1.2.3.4:x\""},
    {"stream_caster { enabled on; }", "stream_caster is on and has no caster"},
    {"stream_caster { enabled on; caster flv; output rtmp://h/[app]/[stream]; }", "stream_caster flv is on and has no listen"},
    {"stream_caster { enabled on; caster gb28181; listen 9000; zlm_api { enabled on; } }", "zlm_api is on and has no secret"},
    {"stream_caster { enabled on; caster gb28181; }", "stream_caster gb28181 is on and has no listen"},
    {"stream_caster { enabled on; caster gb28181; listen 9000; output rtmp://h/live/one; }", "output has no [stream]"},
    {"stream_caster { enabled on; caster gb28181; listen 9000; } stream_caster { enabled on; caster gb28181; listen 9001; }",
     "two stream_casters are gb28181"},
    {"stream_caster { enabled on; caster flv; listen 8936; output nowhere; }", "stream_caster flv: output is \"nowhere\""},
    {"http_api { enabled on; listen 1935; }", "listen and http_api.listen both listen on port 1935"},
    {"http_server { enabled on; listen 127.0.0.1:1935; }", "listen and http_server.listen both listen on port 1935"},
    {"rtsp_server { enabled on; listen 1935; }", "listen and rtsp_server.listen both listen on port 1935"},
    {"rtsps { enabled on; listen 1935; }", "listen and rtsps.listen both listen on port 1935"},
    {"rtmps { enabled on; listen [::1]:1935; }", "listen and rtmps.listen both listen on port 1935"},
};

constexpr RuleCase kVhostRules[] = {
    {"vhost v { srt { passphrase short; } }", "vhost v: srt.passphrase has 5 characters"},
    {"vhost v { publish { always on; } }", "publish.always needs publish.slate"},
    {"vhost v { publish { slate a.mp4; always on; } cluster { mode remote; origin 127.0.0.1; } }",
     "neither an edge nor in a cluster"},
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
    {"vhost v { dvr { dvr_plan append; } }", "expected one of session, segment"},
    {"vhost v { dvr { dvr_format mkv; } }", "expected one of auto, fmp4"},
};

constexpr const char* kPossible[] = {
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
};

void expect_errors(std::span<const RuleCase> rules) {
    for (const RuleCase& one : rules) {
        const std::string error = refusal_of(std::string("listen 1935; ") + one.text);
        EXPECT_TRUE(holds(error, one.part)) << one.text << " -> " << error;
    }
}

TEST(CheckSettings, RefusesBrokenRulesOfTheServer) { expect_errors(kServerRules); }

TEST(CheckSettings, RefusesBrokenRulesOfAVirtualHost) { expect_errors(kVhostRules); }

TEST(CheckSettings, AcceptsWhatCanWork) {
    for (const char* text : kPossible)
        EXPECT_EQ(refusal_of(std::string("listen 1935; ") + text), "") << text;
}

TEST(CheckSettings, NamesTheFileAndCountsAddresses) {
    EXPECT_TRUE(refusal_of("listen 1935; asprocess on;").starts_with("a.conf: ")) << "the file is named";
    EXPECT_EQ(refusal_of("listen 1935; asprocess on; daemon off;"), "");
    EXPECT_EQ(refusal_of("listen 1935; http_api { enabled on; listen 8080; https { enabled on; listen 8088; } } "
                         "http_server { enabled on; https { enabled on; } }"),
              "");
    LoadInput input;
    input.path = "a.conf";
    input.local_addresses = 2;
    const auto read = [](const std::string&) -> Result<std::string> { return std::string("listen 1935; stats { network 2; }"); };
    EXPECT_TRUE(holds(load_settings(input, read).error().sentence(), "stats.network is 2, expected less than 2"));
    input.local_addresses = 3;
    EXPECT_TRUE(load_settings(input, read).ok());
}

}  // namespace
}  // namespace live::settings
