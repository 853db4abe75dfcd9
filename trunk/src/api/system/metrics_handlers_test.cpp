#include "api/system/metrics_handlers.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "engine/workers/metrics_report.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "session/common/client_fixture.hpp"
#include "session/rtc/protocol.hpp"
#include "session/srt/protocol.hpp"

namespace live::api {
namespace {

using session::ClientKind;
using session::FakeClient;

class SomeCounters final : public ServerCounters {
public:
    Totals totals() const override { return {11, 22, 3, {4, 5}, 6}; }
};

class Switch final : public Readiness {
public:
    bool is_ready() const override { return on; }
    bool on = true;
};

struct SomeRtc {
    session::rtc::PortReading now;
    std::size_t half = 0;
    int level = 0;
};

struct SomeSrt {
    std::optional<session::srt::PortReading> now;
};

class NoTranscoders final : public media::AudioTranscoders {
public:
    Result<std::unique_ptr<media::AudioTranscoder>> create(const media::Transcoding&, media::AudioListener&) override {
        return Error(Errc::unsupported, "none here");
    }
};

struct MetricsApiTest : HandlerFixtureOf<nlohmann::ordered_json> {
    MetricsApiTest() {
        table.add_watcher(stream_stats);
        add({true, "cn \"x\"", ""});
    }
    ~MetricsApiTest() override {
        for (const auto& each : clients)
            if (each->stay)
                each->leave();
    }
    FakeClient& client(ClientKind kind, const std::string& stream) {
        clients.push_back(std::make_unique<FakeClient>(table, kind, stream, "id" + std::to_string(clients.size())));
        clients.back()->enter(io::now());
        return *clients.back();
    }
    std::string metrics(const std::string& target = "/metrics") {
        const auto reply = ask(target);
        EXPECT_EQ(reply.status, 200);
        EXPECT_EQ(reply.content_type, "text/plain; version=0.0.4; charset=utf-8");
        return reply.body;
    }
    static bool has_line(const std::string& text, const std::string& line) {
        return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
    }

    SomeCounters counters;
    SystemSampler sampler{counters, {}};
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    service::stats::StreamStats stream_stats{streams};
    session::ClientTable table;
    session::FanOutCounters fan_out;
    std::vector<std::unique_ptr<FakeClient>> clients;
    Switch ready;
    SomeRtc rtc;
    SomeSrt srt;
    session::Protocols protocols{
        {.name = "rtc",
         .write_metrics = [this](MetricsText& text) { session::rtc::write_metrics(text, rtc.now, rtc.half, rtc.level); }},
        {.name = "srt",
         .write_metrics =
             [this](MetricsText& text) {
                 if (srt.now)
                     session::srt::write_metrics(text, *srt.now);
             }},
        {.name = "mute"}};
    Log log;
    session::ConnectionLimits places{10, log};
    NoTranscoders transcoders;
    service::ServiceList services{log};
    // Replaces the handlers of other settings.
    void add(const ExporterSettings& exporter) {
        add_metrics(endpoints, {info, sampler, counters, stream_stats, fan_out, protocols, places, transcoders, services}, ready,
                    exporter);
    }
};

TEST_F(MetricsApiTest, ReportsFamiliesToOtherWorkers) {
    client(ClientKind::fmle_publish, "cam");
    const auto families_at = [&](const std::string& target) {
        const session::http::Request request = report_request_of(target);
        const auto reply = router.find(request).handler->handle(request, io::Deadline::after(io::kSoon));
        EXPECT_EQ(reply.status, 200);
        return MUST(engine::workers::parse_metrics_report(as_bytes(reply.body)));
    };
    const auto totals = families_at("/metrics");
    const auto found = std::ranges::find(totals, "srs_clients", &MetricFamily::name);
    ASSERT_NE(found, totals.end());
    EXPECT_TRUE(found->is_by_worker);
    EXPECT_EQ(found->samples.front().value, MetricSample::Value(std::uint64_t{1}));
    const auto build = std::ranges::find(totals, "srs_build_info", &MetricFamily::name);
    ASSERT_NE(build, totals.end());
    EXPECT_EQ(build->combine, MetricFamily::Combine::first);
    const auto streams_of = families_at("/metrics/streams?match=*");
    EXPECT_TRUE(
        std::ranges::any_of(streams_of, [](const MetricFamily& family) { return family.name == "millrace_stream_clients"; }));
}

TEST_F(MetricsApiTest, HasEveryNameOfTheFamilyWithItsType) {
    client(ClientKind::fmle_publish, "cam");
    client(ClientKind::rtmp_play, "cam").leave(Error(Errc::system, "broken"));
    MUST(sampler.sample(io::Deadline::after(io::kSoon)));
    transcoders.note_too_fast();
    transcoders.note_left_out();
    transcoders.note_left_out();
    const std::string text = metrics();
    for (const char* type : {"srs_node_uname_info gauge", "srs_build_info gauge", "srs_cpu_percent gauge", "srs_memory gauge",
                             "srs_send_bytes_total counter", "srs_receive_bytes_total counter", "srs_streams gauge",
                             "srs_clients gauge", "srs_clients_total counter", "srs_clients_errs_total counter",
                             "millrace_added_delay_seconds histogram", "millrace_write_batch_bytes histogram",
                             "millrace_loop_lag_seconds histogram", "millrace_loop_long_holds_total counter"})
        EXPECT_TRUE(has_line(text, std::string("# TYPE ") + type)) << type;
    for (const char* line :
         {"srs_send_bytes_total 22", "srs_receive_bytes_total 11", "srs_streams 1", "srs_clients 1", "srs_clients_total 2",
          "srs_clients_errs_total 1", "live_connections 3", "millrace_log_lines_left_out_total 4",
          "millrace_log_lines_lost_total 5", "millrace_access_log_lines_lost_total 6", "millrace_audio_too_fast_total 1",
          "millrace_audio_left_out_total 2"})
        EXPECT_TRUE(has_line(text, line)) << line;
    EXPECT_NE(text.find("srs_build_info{server=\"vid-4k2m9xa\",service=\"s7d01k2p\",pid=\"4321\",build_date=\"\",major=\"7\""),
              std::string::npos);
    EXPECT_NE(text.find(",label=\"cn \\\"x\\\"\"} 1\n"), std::string::npos);
    EXPECT_EQ(text.find("tag="), std::string::npos);
    EXPECT_EQ(text.find("srs_memory 0\n"), std::string::npos);
}

TEST_F(MetricsApiTest, CountsWebRtcByKindAndDirection) {
    rtc.now.sessions = 7;
    rtc.now.port = {
        .received = 30, .stun = 1, .dtls = 2, .rtp = 20, .rtcp = 4, .strangers = 5, .sent = 9, .sent_bytes = 1, .unsent = 1};
    rtc.now.shared.in = {.key_requests = 1, .arrival_reports = 2, .receiver_reports = 3, .nacked = 4};
    rtc.now.shared.out = {.key_requests = 5, .arrival_reports = 6, .receiver_reports = 7, .nacked = 8};
    rtc.now.shared.resent = 3;
    rtc.now.lost = 11;
    rtc.now.unsent = 12;
    rtc.half = 2;
    rtc.level = 1;
    const std::string text = metrics();
    for (const char* line :
         {"# TYPE millrace_rtc_sessions gauge", "millrace_rtc_sessions{state=\"open\"} 5",
          "millrace_rtc_sessions{state=\"half_open\"} 2", "millrace_rtc_received_datagrams_total{kind=\"rtp\"} 20",
          "millrace_rtc_received_datagrams_total{kind=\"other\"} 3", "millrace_rtc_strangers_total 5",
          "millrace_rtc_sent_datagrams_total 9", "millrace_rtc_lost_datagrams_total{direction=\"in\"} 11",
          "millrace_rtc_lost_datagrams_total{direction=\"out\"} 12",
          "millrace_rtc_rtcp_total{direction=\"out\",kind=\"key_request\"} 5",
          "millrace_rtc_rtcp_total{direction=\"in\",kind=\"receiver_report\"} 3",
          "millrace_rtc_nacked_packets_total{direction=\"in\"} 4", "millrace_rtc_nacked_packets_total{direction=\"out\"} 8",
          "millrace_rtc_resent_packets_total 3", "millrace_rtc_circuit_breaker_level 1"})
        EXPECT_TRUE(has_line(text, line)) << line;
}

TEST_F(MetricsApiTest, HasSrtMetricsWhileSrtRuns) {
    EXPECT_EQ(metrics().find("millrace_srt"), std::string::npos);
    session::srt::PortReading& now = srt.now.emplace();
    now.publishers = 1;
    now.players = 2;
    now.opening = 3;
    now.port.strangers = 4;
    now.port.refused = 5;
    now.links.received = 6;
    now.links.retransmitted = 7;
    now.links.receive_dropped = 8;
    now.links.send_lost = 9;
    now.port.called = 10;
    const std::string text = metrics();
    for (const char* line :
         {"# TYPE millrace_srt_connections gauge", "millrace_srt_connections{kind=\"publish\"} 1",
          "millrace_srt_connections{kind=\"play\"} 2", "millrace_srt_connections{kind=\"opening\"} 3",
          "millrace_srt_calls_total 10", "millrace_srt_strangers_total 4", "millrace_srt_handshakes_total{outcome=\"refused\"} 5",
          "millrace_srt_packets_total{direction=\"in\"} 6", "millrace_srt_retransmitted_packets_total{direction=\"out\"} 7",
          "millrace_srt_dropped_packets_total{direction=\"in\"} 8", "millrace_srt_lost_packets_total{direction=\"out\"} 9"})
        EXPECT_TRUE(has_line(text, line)) << line;
}

TEST_F(MetricsApiTest, SelectsStreamsUpToABound) {
    client(ClientKind::fmle_publish, "cam1");
    client(ClientKind::fmle_publish, "cam2");
    client(ClientKind::rtmp_play, "other");
    const std::string all = metrics("/metrics/streams");
    EXPECT_TRUE(has_line(all, "millrace_stream_clients{stream=\"/live/cam1\"} 1"));
    EXPECT_TRUE(has_line(all, "millrace_stream_published{stream=\"/live/other\"} 0"));
    EXPECT_TRUE(has_line(all, "millrace_streams_omitted 0"));
    const std::string some = metrics("/metrics/streams?match=*/cam*");
    EXPECT_TRUE(has_line(some, "millrace_stream_published{stream=\"/live/cam2\"} 1"));
    EXPECT_EQ(some.find("other"), std::string::npos);
    EXPECT_EQ(ask("/metrics/streams?match=" + std::string(StreamMetricsHandler::kPatternBytesMax + 1, '*')).status, 400);
    for (std::size_t i = 0; i < StreamMetricsHandler::kStreamsMax; ++i)
        client(ClientKind::rtmp_play, "s" + std::to_string(i));
    EXPECT_TRUE(has_line(metrics("/metrics/streams"), "millrace_streams_omitted 3"));
}

TEST_F(MetricsApiTest, TotalsHaveBoundedSeriesOfStreamsIfConfigured) {
    for (const char* name : {"cam1", "cam2", "cam3"})
        client(ClientKind::fmle_publish, name);
    EXPECT_EQ(metrics().find("millrace_stream"), std::string::npos);
    add({.enabled = true, .label = {}, .tag = {}, .streams_max = 2});
    const std::string text = metrics();
    EXPECT_TRUE(has_line(text, "millrace_stream_published{stream=\"/live/cam1\"} 1"));
    EXPECT_TRUE(has_line(text, "millrace_stream_published{stream=\"/live/cam2\"} 1"));
    EXPECT_EQ(text.find("/live/cam3"), std::string::npos);
    EXPECT_TRUE(has_line(text, "millrace_streams_omitted 1"));
    add({.enabled = true, .label = {}, .tag = {}, .streams_max = 3});
    EXPECT_TRUE(has_line(metrics(), "millrace_streams_omitted 0"));
}

TEST_F(MetricsApiTest, BuildInfoHasLabelAndTag) {
    add({true, "", "blue"});
    const std::string text = metrics();
    EXPECT_NE(text.find(",tag=\"blue\"} 1\n"), std::string::npos);
    EXPECT_EQ(text.find("label="), std::string::npos);
    EXPECT_EQ(ask("/metrics/streams", "POST").status, 405);
}

TEST_F(MetricsApiTest, DisabledExporterIsNotFound) {
    add({});
    for (const char* path : {"/metrics", "/metrics/streams"})
        EXPECT_EQ(ask_json(path, 404)["code"], 1090) << path;
    EXPECT_EQ(ask("/metrics", "POST").status, 405);
}

TEST_F(MetricsApiTest, HealthAndReadinessAreStatuses) {
    EXPECT_EQ(ask("/healthz").status, 200);
    EXPECT_EQ(ask("/readyz").status, 200);
    ready.on = false;
    EXPECT_EQ(ask("/healthz").status, 200);
    EXPECT_EQ(ask("/readyz").status, 503);
}

TEST(Matches, StarMatchesAnyText) {
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("*", "abc"));
    EXPECT_TRUE(matches("", ""));
    EXPECT_FALSE(matches("", "a"));
    EXPECT_TRUE(matches("/live/*", "/live/cam"));
    EXPECT_FALSE(matches("/live/*", "/other/cam"));
    EXPECT_TRUE(matches("*cam*", "/live/cam1"));
    EXPECT_TRUE(matches("a*b*c", "aXbYbZc"));
    EXPECT_FALSE(matches("a*b*c", "aXbYbZ"));
    EXPECT_TRUE(matches("a**", "a"));
    EXPECT_FALSE(matches("abc", "ab"));
    const std::string many(200, 'a');
    EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*b", many));
}

}  // namespace
}  // namespace live::api
