// A protocol that is one folder (hello_protocol_fixture.hpp) and one line in the list is in every report of the server.
#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "api/debug/memory_handler.hpp"
#include "api/debug/self_test_handler.hpp"
#include "api/streams/stats_handlers.hpp"
#include "api/system/metrics_handlers.hpp"
#include "app/hello_protocol_fixture.hpp"
#include "app/parts/drain.hpp"
#include "app/vhosts/stream_list.hpp"
#include "app/wiring/memory_counts.hpp"
#include "base/log/log_fixture.hpp"
#include "base/options_of_fixture.hpp"
#include "service/access_log/access_line.hpp"
#include "service/cluster/player_redirector.hpp"
#include "service/heartbeat/heartbeat.hpp"
#include "service/workers/no_events_fixture.hpp"

namespace live::app {
namespace {

using Json = nlohmann::ordered_json;

struct Counters final : api::ServerCounters {
    explicit Counters(const session::Protocols& all) : protocols(all) {}
    Totals totals() const override {
        const session::Traffic traffic = session::traffic_of(protocols);
        return {traffic.received_bytes, traffic.sent_bytes};
    }
    const session::Protocols& protocols;
};

struct Ready final : api::Readiness {
    bool is_ready() const override { return true; }
};

struct NoTranscoders final : media::AudioTranscoders {
    Result<std::unique_ptr<media::AudioTranscoder>> create(const media::Transcoding&, media::AudioListener&) override {
        return Error(Errc::unsupported, "no audio is converted");
    }
};

struct AnyVhost final : api::VhostSettings {
    Shown find(const std::string&) const override { return {true, {}}; }
};

struct MadeUpProtocolTest : api::HandlerFixtureOf<Json> {
    MadeUpProtocolTest() {
        clients.add_watcher(stream_stats);
        api::add_stats(endpoints, stream_stats, vhosts);
        api::add_metrics(endpoints, {info, sampler, counters, stream_stats, fan_out, protocols, places, transcoders, services},
                         ready, {true, "", ""});
        endpoints.serve("/api/v1/memory", memory_handler);
        endpoints.serve("/api/v1/doctor/", self_test_handler);
        player.enter(io::now());
    }
    ~MadeUpProtocolTest() override { player.leave(); }
    bool has_metric(const std::string& line) { return ask("/metrics").body.find("\n" + line + "\n") != std::string::npos; }

    const session::Traffic traffic{11, 22};
    const session::Protocols protocols{hello::describe(traffic)};  // the one line
    Log log;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    service::stats::StreamStats stream_stats{streams};
    session::ClientTable clients;
    hello::Client player{clients, hello::kPlay, "id0"};
    Counters counters{protocols};
    api::SystemSampler sampler{counters, {}};
    session::FanOutCounters fan_out;
    session::ConnectionLimits places{10, log};
    NoTranscoders transcoders;
    service::ServiceList services{log};
    AnyVhost vhosts;
    Ready ready;
    struct SameNames final : service::access_log::VhostNames {
        std::string serving(const std::string& name) const override { return name; }
    } names;
    service::access_log::AccessLog access_log{"", {}, names, log};
    ProcessMemory memory{slabs, stream_stats, places, protocols, log, access_log};
    api::MemoryHandler memory_handler{info, memory};
    api::SelfTestHandler self_test_handler{info, protocols};
};

TEST_F(MadeUpProtocolTest, IsInTheApi) {
    const Json client = ask_json("/api/v1/clients/")["clients"][0];
    EXPECT_EQ(client["type"], "hello-play");
    EXPECT_EQ(client["publish"], false);
    EXPECT_EQ(client["hello"], Json::parse(R"({"greetings":3,"is_polite":true})"));
    const Json kinds = ask_json("/api/v1/memory")["data"]["kinds"];
    EXPECT_EQ(kinds["hello_greetings"], Json::parse(R"({"objects":7,"bytes":70})"));
    EXPECT_EQ(kinds["sessions_hello-play"]["objects"], 1);
    EXPECT_EQ(kinds["sessions_hello-play"]["bytes"], sizeof(hello::Client));
    EXPECT_EQ(kinds["sessions_hello-publish"], Json::parse(R"({"objects":0,"bytes":null})"));
}

TEST_F(MadeUpProtocolTest, IsInTheMetrics) {
    EXPECT_TRUE(has_metric("millrace_hello_greetings_total 7"));
    EXPECT_TRUE(has_metric(R"(millrace_refused_total{limit="hello_unanswered"} 0)"));
    EXPECT_TRUE(has_metric(R"(millrace_refused_total{limit="max_connections"} 0)"));
    EXPECT_TRUE(has_metric("srs_send_bytes_total 22"));
    EXPECT_TRUE(has_metric("srs_receive_bytes_total 11"));
    EXPECT_TRUE(has_metric("srs_clients 1"));
}

TEST_F(MadeUpProtocolTest, IsInTheAccessLog) {
    const Json line = Json::parse(service::access_log::line_of(
        {{}, player.request(), "h", 2s, player.figures(), service::access_log::Outcome::ended, "left"}));
    EXPECT_EQ(line["protocol"], "hello");
    EXPECT_EQ(line["role"], "play");
}

TEST_F(MadeUpProtocolTest, HasItsSelfTestInTheApi) {
    EXPECT_EQ(ask_json("/api/v1/doctor/hello")["data"], Json::parse(R"({"enabled":true,"ok":true,"addresses":[{
        "address":"127.0.0.1","port":4711,"transport":"tcp","ok":true,"ms":1.5,"finding":"it says hello"}],"advice":["be polite"]})"));
    EXPECT_EQ(ask("/api/v1/doctor/unknown").status, 404);
    session::http::Request busy = api::request_of("/api/v1/doctor/hello");
    busy.message.headers.add("Host", "busy:1985");
    EXPECT_EQ(self_test_handler.handle(busy, io::Deadline::never()).status, 503);
}

TEST_F(MadeUpProtocolTest, IsInTheStreamList) {
    settings::Settings tree;
    tree.vhosts.resize(1);
    tree.vhosts[0].name = settings::kDefaultVhost;
    const settings::CurrentSettings settings(std::move(tree));
    const service::hls::FileIndex hls;
    const struct NoDash final : session::http::Handler {
    } dash;
    const StreamList list(settings, protocols, hls, dash);
    session::http::Request request = api::request_of("/streams.json");
    request.message.headers.add("Host", "h.example:8080");
    EXPECT_EQ(list.view(request)->play_addresses({"__defaultVhost__", "live", "cam"}),
              (session::StreamUrls{{"hello", "hello://h.example:4711/cam"}}));
}

TEST_F(MadeUpProtocolTest, IsInTheHeartbeat) {
    service::heartbeat::HeartbeatOptions options;
    options.ports = true;
    service::heartbeat::Facts facts;
    for (const session::Protocol& protocol : protocols)
        facts.others.emplace_back(protocol.name, protocol.addresses());
    EXPECT_EQ(Json::parse(service::heartbeat::body_of(options, facts))["hello"], Json::array({"tcp://0.0.0.0:4711"}));
}

struct NoStreamEvents final : session::StreamEvents {
    void on_published(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_publish_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_unpublished(const std::string&) override {}
    void on_play_ended(const session::ClientRequest&, const session::StreamPlan&) override {}
    void on_closed(const session::ClientRequest&, const session::Traffic&) override {}
};

TEST_F(MadeUpProtocolTest, IsInADrain) {
    service::workers::NoEvents cluster_events;
    service::cluster::ClusterService node{
        {.options = {}, .node_id = "n", .streams = streams, .scratch = {}, .describe = {}, .sent_bytes = {}, .takes_part = {}},
        cluster_events,
        log};
    NoStreamEvents stream_events;
    const service::relay::ClusterOptions cluster_options;
    const SameOptions<service::relay::ClusterOptions> cluster_vhosts{cluster_options};
    service::relay::StaticResolver resolver;
    service::relay::RelayService relay{
        {.dial = {}, .streams = streams, .events = stream_events, .clients = clients, .options = cluster_vhosts, .node = {}},
        resolver,
        log};
    service::cluster::PlayerRedirector redirector{node, relay};
    Drain drain{clients, streams, node, redirector, log};
    drain.begin(20s, Drain::To::new_program, io::Deadline::never());
    EXPECT_EQ(drain.facts().clients.players, 1U);
    drain.step();
    EXPECT_EQ(player.moved_here, 1);
    EXPECT_EQ(drain.facts().asked, 1U);
}

TEST_F(MadeUpProtocolTest, ItsPlayersAreRedirectedWithinACluster) {
    EXPECT_EQ(service::cluster::port_for(player.request()), &engine::cluster::NodeRecord::api_port);
}

}  // namespace
}  // namespace live::app
