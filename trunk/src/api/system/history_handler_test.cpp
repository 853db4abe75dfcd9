#include "api/system/history_handler.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "session/common/client_fixture.hpp"

namespace live::api {
namespace {

using HandlerFixture = HandlerFixtureOf<nlohmann::ordered_json>;
using session::ClientKind;
using session::FakeClient;

struct HistoryApiTest : HandlerFixture {
    HistoryApiTest() {
        table.add_watcher(stats);
        endpoints.add<HistoryHandler>(HistoryHandler::kPath, info, stats, machine);
    }
    ~HistoryApiTest() override {
        for (const auto& each : clients)
            if (each->stay)
                each->leave();
    }
    FakeClient& client(ClientKind kind, const std::string& stream = "cam") {
        clients.push_back(std::make_unique<FakeClient>(table, kind, stream, "id" + std::to_string(clients.size())));
        clients.back()->asked.ip = "10.0.0.7";
        clients.back()->enter(begin);
        return *clients.back();
    }
    // `count` points in the past; `begin` is before them.
    void sample(int count) {
        for (int i = count; i > 0; --i) {
            const TimePoint at = io::now() - i * service::stats::kHistoryInterval;
            stats.sample(at);
            machine.add(at, figures, {});
        }
    }

    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    service::stats::StreamStats stats{streams};
    MachineRecord machine;
    SystemFigures figures;
    session::ClientTable table;
    std::vector<std::unique_ptr<FakeClient>> clients;
    TimePoint begin = io::now() - 10min;
};

TEST_F(HistoryApiTest, AStreamHasPointsEventsAndHealth) {
    auto& publisher = client(ClientKind::fmle_publish);
    client(ClientKind::rtmp_play).now.queue_delay = 250ms;
    publisher.now.received_bytes = 1'000'000;
    static_cast<void>(MUST(streams.find_or_create("/live/cam", {}, 60'000)));
    sample(3);
    const Json data = ask_json("/api/v1/history?stream=/live/cam")["data"];
    expect_fields(data, {{"interval", kWhole},
                         {"points", Json::value_t::array},
                         {"id", kText},
                         {"publisher", kText},
                         {"live_seconds", kWhole},
                         {"viewers", Json::value_t::array},
                         {"health", Json::value_t::array},
                         {"events", Json::value_t::array}});
    EXPECT_EQ(data["interval"], 10);
    EXPECT_EQ(data["publisher"], "id0");
    EXPECT_GE(data["live_seconds"], 600);
    EXPECT_EQ(data["viewers"], Json::parse(R"([{"type": "rtmp-play", "count": 1}])"));
    EXPECT_EQ(data["health"][0]["code"], "no_media");
    ASSERT_EQ(data["events"].size(), 1U);
    EXPECT_EQ(data["events"][0]["event"], "published");
    EXPECT_EQ(data["events"][0]["text"], "fmle-publish from 10.0.0.7");
    EXPECT_NEAR(data["events"][0]["time"].get<double>(),
                std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() - 600, 5);
    ASSERT_EQ(data["points"].size(), 3U);
    const Json& point = data["points"][0];
    expect_fields(point, {{"time", kWhole},
                          {"recv_kbps", kReal},
                          {"send_kbps", kReal},
                          {"fps", kReal},
                          {"gop", kNull},
                          {"delay_ms", kReal},
                          {"viewers", Json::value_t::array}});
    EXPECT_EQ(point["delay_ms"], 250.0);
    EXPECT_EQ(point["viewers"], data["viewers"]);
    EXPECT_GT(point["recv_kbps"], 10.0);
    EXPECT_EQ(data["points"][1]["time"].get<int>() - point["time"].get<int>(), 10);
}

TEST_F(HistoryApiTest, SinceSelectsTheNewPoints) {
    client(ClientKind::fmle_publish);
    static_cast<void>(MUST(streams.find_or_create("/live/cam", {}, 60'000)));
    sample(5);
    const Json all = ask_json("/api/v1/history?stream=/live/cam")["data"]["points"];
    ASSERT_EQ(all.size(), 5U);
    for (std::size_t at = 0; at < all.size(); ++at) {
        const Json rest = ask_json("/api/v1/history?stream=/live/cam&since=" + all[at]["time"].dump())["data"]["points"];
        ASSERT_EQ(rest.size(), all.size() - at - 1);
        EXPECT_TRUE(rest.empty() || rest[0] == all[at + 1]);
    }
    EXPECT_EQ(ask_json("/api/v1/history?since=0")["data"]["points"].size(), 5U);
    EXPECT_EQ(ask_json("/api/v1/history?since=9223372036854775807")["data"]["points"].size(), 0U);
    for (const char* wrong : {"x", "-1", "1x", "99999999999999999999", "1.5"})
        EXPECT_EQ(ask(std::string("/api/v1/history?since=") + wrong).status, 400) << wrong;
}

TEST_F(HistoryApiTest, TheServerHasItsPlayersAndItsMachine) {
    client(ClientKind::fmle_publish);
    client(ClientKind::hls_play, "other");
    figures.self_cpu_share = 0.5;
    figures.totals.connections = 7;
    sample(3);
    const Json data = ask_json("/api/v1/history")["data"];
    EXPECT_EQ(data["viewers"], Json::parse(R"([{"type": "hls-play", "count": 1}])"));
    ASSERT_EQ(data["points"].size(), 3U);
    const Json& point = data["points"][2];
    expect_fields(point, {{"time", kWhole},
                          {"recv_kbps", kReal},
                          {"send_kbps", kReal},
                          {"cpu_percent", kReal},
                          {"machine_cpu_percent", kReal},
                          {"mem_bytes", kWhole},
                          {"lag_ms", kReal},
                          {"connections", kWhole},
                          {"streams", kWhole},
                          {"viewers", Json::value_t::array}});
    EXPECT_EQ(point["streams"], 2);
    EXPECT_EQ(point["cpu_percent"], 0.5);
    EXPECT_EQ(point["connections"], 7);
}

TEST_F(HistoryApiTest, AnUnknownStreamIsNotFound) {
    client(ClientKind::fmle_publish);
    EXPECT_EQ(ask_json("/api/v1/history?stream=/live/none", 404)["code"], 2048);
    clients.front()->leave();
    EXPECT_EQ(ask_json("/api/v1/history?stream=/live/cam", 404)["code"], 2048);
}

// Both workers have the stream: one its publisher, the other one a relay and two players.
TEST_F(HistoryApiTest, WorkersAddUpPointsOfTheSameInterval) {
    auto& publisher = client(ClientKind::fmle_publish);
    client(ClientKind::rtmp_play);
    static_cast<void>(MUST(streams.find_or_create("/live/cam", {}, 60'000)));
    sample(2);
    const auto first = ask_report("/api/v1/history?stream=/live/cam");
    publisher.leave();
    client(ClientKind::rtmp_play);
    client(ClientKind::hls_play);
    sample(0);
    const auto second = ask_report("/api/v1/history?stream=/live/cam");
    engine::workers::RowReport sum;
    add_report(sum, 2, second);
    add_report(sum, 1, first);
    EXPECT_EQ(sum.head.text("publisher"), "id0") << "of the worker that has it";
    auto& points = sum.head.at<engine::workers::Rows>("points");
    ASSERT_EQ(points.size(), 2U);
    EXPECT_EQ(points[0].at<engine::workers::Rows>("viewers")[0].at<std::uint64_t>("count"), 2U);
    auto& viewers = sum.head.at<engine::workers::Rows>("viewers");
    ASSERT_EQ(viewers.size(), 2U);
    EXPECT_EQ(viewers[0].at<std::uint64_t>("count"), 3U);
    EXPECT_EQ(viewers[1].text("type"), "hls-play");
}

}  // namespace
}  // namespace live::api
