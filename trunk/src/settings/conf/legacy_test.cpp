#include "settings/conf/legacy.hpp"

#include <gtest/gtest.h>

#include "base/config/conf_parser.hpp"

namespace live::settings {
namespace {

std::string written(const config::Directive& block) {
    std::string out;
    for (const config::Directive& child : block.children) {
        out += (out.empty() ? "" : " ") + child.name;
        for (const config::Argument& argument : child.args)
            out += " " + argument.text;
        if (!child.is_block)
            out += ";";
        else
            out += child.children.empty() ? " {}" : " { " + written(child) + " }";
    }
    return out;
}

struct Rewritten {
    std::string text;
    std::size_t warnings = 0;
};

Rewritten rewritten(const std::string& text) {
    config::Directive root =
        MUST(config::parse_conf("a.conf", [&text](const std::string&) -> Result<std::string> { return text; }));
    const config::Environment nothing;
    config::Loading loading(nothing);
    rewrite_legacy(root, loading);
    return {written(root), loading.warnings().size()};
}

struct Case {
    const char* old;
    const char* today;
    std::size_t warnings;
};

TEST(Legacy, RewritesEveryOldForm) {
    const Case cases[] = {
        {"http_stream { enabled on; }", "http_server { enabled on; }", 1},
        {"vhost v { http { dir x; } }", "vhost v { http_static { dir x; } }", 1},
        {"vhost v { http_remux { hstrs on; mount m; } }", "vhost v { http_remux { mount m; } }", 1},
        {"vhost v { refer a b; refer_play c; refer_publish d; }", "vhost v { refer { enabled on; all a b; play c; publish d; } }",
         3},
        {"vhost v { mr { enabled on; latency 500; } }", "vhost v { publish { mr on; mr_latency 500; } }", 1},
        {"vhost v { publish_1stpkt_timeout 1000; publish_normal_timeout 2000; }",
         "vhost v { publish { firstpkt_timeout 1000; normal_timeout 2000; } }", 2},
        {"vhost v { gop_cache off; gop_cache_max_frames 1; queue_length 2; time_jitter zero; mix_correct on; atc on; atc_auto "
         "on; mw_latency 3; "
         "send_min_interval 4; reduce_sequence_header on; }",
         "vhost v { play { gop_cache off; gop_cache_max_frames 1; queue_length 2; time_jitter zero; mix_correct on; atc on; "
         "atc_auto on; "
         "mw_latency 3; send_min_interval 4; reduce_sequence_header on; } }",
         10},
        {"vhost v { forward h:1 i:2; }", "vhost v { forward { enabled on; destination h:1 i:2; } }", 1},
        {"vhost v { mode remote; origin h; token_traverse on; vhost w; debug_srs_upnode off; }",
         "vhost v { cluster { mode remote; origin h; token_traverse on; vhost w; debug_srs_upnode off; } }", 5},
        {"vhost v { nack { enabled off; no_copy on; } }", "vhost v { rtc { nack off; nack_no_copy on; } }", 1},
        {"vhost v { twcc { enabled off; } }", "vhost v { rtc { twcc off; } }", 1},
        {"vhost v { rtc { aac transcode; bframe keep; } }", "vhost v { rtc { rtmp_to_rtc on; keep_bframe on; } }", 2},
        {"vhost v { rtc { aac discard; bframe discard; } }", "vhost v { rtc { rtmp_to_rtc off; keep_bframe off; } }", 2},
        {"srt_server { tlpkdrop off; }", "srt_server { tlpktdrop off; }", 1},
        {"rtc_server { perf_stat on; queue_length 1; listen 8000; }", "rtc_server { listen 8000; }", 2},
        {"stream_caster { host 1.2.3.4; audio_enable on; rtp_port_min 1; rtp_port_max 2; wait_keyframe on; rtp_idle_timeout 3; "
         "auto_create_channel on; sip { serial 1; realm 2; ack_timeout 3; keepalive_timeout 4; auto_play on; invite_port_fixed "
         "on; "
         "query_catalog_interval 5; } }",
         "stream_caster { sip { candidate 1.2.3.4; } }", 14},
        {"vhost v { hls { hls_storage disk; hls_mount x; enabled on; } }", "vhost v { hls { enabled on; } }", 2},
        {"vhost v { bandcheck { enabled on; } }", "vhost v {}", 1},
    };
    for (const Case& one : cases) {
        const Rewritten result = rewritten(one.old);
        EXPECT_EQ(result.text, one.today) << one.old;
        EXPECT_EQ(result.warnings, one.warnings) << one.old;
    }
}

TEST(Legacy, CurrentFormTakesPrecedence) {
    EXPECT_EQ(rewritten("vhost v { gop_cache on; play { gop_cache off; } }").text, "vhost v { play { gop_cache off; } }");
    EXPECT_EQ(rewritten("vhost v { play { atc on; } gop_cache on; }").text, "vhost v { play { atc on; gop_cache on; } }");
    EXPECT_EQ(rewritten("vhost v { forward h; forward { enabled off; destination i; } }").text,
              "vhost v { forward { enabled off; destination i; } }");
}

TEST(Legacy, FirstOfTwoOldFormsTakesPrecedence) {
    EXPECT_EQ(rewritten("vhost v { gop_cache on; gop_cache off; }").text, "vhost v { play { gop_cache on; } }");
}

TEST(Legacy, KeepsCurrentForms) {
    const std::string text =
        "listen 1935; http_server { enabled on; } vhost v { play { atc on; } publish { mr on; } forward { enabled on; } "
        "refer { enabled on; all a; } cluster { mode local; vhost w; } rtc { nack on; } }";
    EXPECT_EQ(rewritten(text).text, text);
    EXPECT_EQ(rewritten(text).warnings, 0U);
}

}  // namespace
}  // namespace live::settings
