#include "api/streams/stream_list_handler.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/workers/no_events_fixture.hpp"
#include "service/workers/worker_fixture.hpp"
#include "session/common/client_fixture.hpp"

namespace live::api {
namespace {

using HandlerFixture = HandlerFixtureOf<nlohmann::ordered_json>;

using session::ClientKind;
using session::FakeClient;
using session::http::Request;

class FakeView final : public StreamListView {
public:
    explicit FakeView(std::string hidden) : hidden_(std::move(hidden)) {}
    bool shows(std::string_view vhost) const override { return vhost != hidden_; }
    bool hides_some() const override { return !hidden_.empty(); }
    std::vector<StreamAddress> play_addresses(const ListedStream& stream) const override {
        const std::string place = "://h/" + std::string(stream.app) + "/" + std::string(stream.name);
        std::vector<StreamAddress> addresses{{stream.comes_by_rtc ? "whep" : "rtmp", "rtmp" + place}};
        if (!stream.hls.empty())
            addresses.push_back({std::string(stream.hls), "http" + place});
        return addresses;
    }
    std::vector<StreamAddress> publish_addresses() const override { return {{"rtmp", "rtmp://h/live/livestream"}}; }
    ApiPlace api() const override { return {.url = {}, .missing = "loopback"}; }

private:
    std::string hidden_;
};

class FakeListSettings final : public StreamListSettings {
public:
    bool is_enabled() const override { return enabled; }
    std::string_view hls_format(const ListedStream& stream) const override { return stream.name == hls ? "hls" : ""; }
    std::unique_ptr<StreamListView> view(const Request& request) const override {
        return request.message.headers.find("Host") ? std::make_unique<FakeView>(hidden) : nullptr;
    }
    bool enabled = true;
    std::string hls;  // the stream that has a playlist
    std::string hidden;
};

struct StreamListTest : HandlerFixture {
    StreamListTest() {
        table.add_watcher(stream_stats);
        endpoints.serve(StreamListHandler::kPath, handler);
        headers.add("Host", "h");
    }
    ~StreamListTest() override {
        for (const auto& each : clients)
            each->leave();
    }
    FakeClient& client(ClientKind kind, const std::string& stream, const std::string& vhost = "__defaultVhost__") {
        clients.push_back(std::make_unique<FakeClient>(table, kind, stream, "secret-id-" + std::to_string(clients.size())));
        clients.back()->plan.vhost = vhost;
        clients.back()->enter(io::now());
        return *clients.back();
    }
    Json list(const std::string& query = "") {
        const auto reply = ask("/streams.json" + query);
        EXPECT_EQ(reply.status, 200) << reply.body;
        return Json::parse(reply.body, nullptr, false);
    }
    static std::vector<std::string> names(const Json& answer) {
        std::vector<std::string> all;
        for (const Json& stream : answer["streams"])
            all.push_back(stream["name"]);
        return all;
    }
    using Names = std::vector<std::string>;

    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    service::stats::StreamStats stream_stats{streams};
    session::ClientTable table;
    std::vector<std::unique_ptr<FakeClient>> clients;
    FakeListSettings settings;
    StreamListHandler handler{info, stream_stats, settings, nullptr};
};

// It shows them by its own rules.
TEST_F(StreamListTest, ReturnsAllStreamsToOtherWorkers) {
    client(ClientKind::fmle_publish, "cam");
    client(ClientKind::fmle_publish, "hidden", "other");
    settings.hidden = "other";
    const auto page = [&](const std::string& query) {
        const auto reply = handler.handle(report_request_of(StreamListHandler::kPath + query), io::Deadline::never());
        return MUST(engine::workers::parse_row_report(as_bytes(reply.body)));
    };
    const auto names_in = [](const engine::workers::RowReport& report) {
        Names found;
        for (const auto& row : report.rows)
            found.emplace_back(row.text("name"));
        return found;
    };
    EXPECT_EQ(names_in(page("")), (Names{"cam", "hidden"}));
    EXPECT_EQ(page("").head.find<std::uint64_t>("next"), nullptr);
    const auto first = page("?count=1");
    EXPECT_EQ(names_in(first), Names{"cam"});
    ASSERT_NE(first.head.find<std::uint64_t>("next"), nullptr);
    EXPECT_EQ(names_in(page("?count=1&from=" + std::to_string(*first.head.find<std::uint64_t>("next")))), Names{"hidden"});
    EXPECT_EQ(names(list()), Names{"cam"});
}

TEST_F(StreamListTest, ListsLiveStreamsWithoutClients) {
    client(ClientKind::fmle_publish, "cam");
    client(ClientKind::rtmp_play, "cam");
    client(ClientKind::rtmp_play, "waits-for-its-publisher");
    client(ClientKind::rtc_publish, "browser");
    const Json answer = list();
    EXPECT_EQ(names(answer), (Names{"cam", "browser"}));
    expect_fields(answer["streams"][0], {{"vhost", kText},
                                         {"app", kText},
                                         {"name", kText},
                                         {"video", kNull},
                                         {"audio", kNull},
                                         {"fps", kReal},
                                         {"kbps", kWhole},
                                         {"live_seconds", kWhole},
                                         {"viewers", Json::value_t::array},
                                         {"formats", Json::value_t::array}});
    EXPECT_EQ(answer["streams"][0]["formats"], Json::parse(R"([{"format":"rtmp","url":"rtmp://h/live/cam"}])"));
    EXPECT_EQ(answer["streams"][1]["formats"][0]["format"], "whep");
    EXPECT_EQ(answer["publish"], Json::parse(R"([{"format":"rtmp","url":"rtmp://h/live/livestream"}])"));
    EXPECT_EQ(answer["api"], Json::parse(R"({"url":null,"missing":"loopback"})"));
    EXPECT_EQ(answer["next"], nullptr);
    const std::string text = answer.dump();
    EXPECT_EQ(text.find("secret-id"), std::string::npos) << text;
    EXPECT_EQ(text.find("10."), std::string::npos) << text;
}

TEST_F(StreamListTest, ListsExistingPlaylists) {
    client(ClientKind::fmle_publish, "cam");
    EXPECT_EQ(list()["streams"][0]["formats"].size(), 1U);
    settings.hls = "cam";
    const Json cam = list()["streams"][0];
    EXPECT_EQ(cam["formats"][1], Json::parse(R"({"format":"hls","url":"http://h/live/cam"})"));
    EXPECT_FALSE(cam.contains("hls"));
}

TEST_F(StreamListTest, CountsViewersByKind) {
    client(ClientKind::fmle_publish, "cam");
    client(ClientKind::rtmp_play, "cam");
    client(ClientKind::rtmp_play, "cam");
    client(ClientKind::hls_play, "cam");
    EXPECT_EQ(list()["streams"][0]["viewers"], Json::parse(R"([{"type":"rtmp-play","count":2},{"type":"hls-play","count":1}])"));
}

TEST_F(StreamListTest, OneStreamHasItsHealth) {
    client(ClientKind::fmle_publish, "cam");
    clients.push_back(std::make_unique<FakeClient>(table, ClientKind::fmle_publish, "closed", "id"));
    clients.back()->plan.vhost = "secret.example";
    clients.back()->plan.url = "secret.example/live/closed";
    clients.back()->enter(io::now());
    EXPECT_FALSE(list()["streams"][0].contains("health"));
    const Json one = list("?stream=/live/cam");
    ASSERT_EQ(names(one), Names{"cam"});
    EXPECT_EQ(one["streams"][0]["health"][0]["code"], "no_media");
    EXPECT_EQ(names(list("?stream=/live/none")), Names{});
    EXPECT_EQ(names(list("?stream=secret.example/live/closed")), Names{"closed"});
    settings.hidden = "secret.example";
    EXPECT_EQ(names(list("?stream=secret.example/live/closed")), Names{});
}

TEST_F(StreamListTest, HidesStreamsByTheRulesOfTheirVirtualHost) {
    client(ClientKind::fmle_publish, "open");
    client(ClientKind::fmle_publish, "closed", "secret.example");
    settings.hidden = "secret.example";
    const Json answer = list();
    EXPECT_EQ(names(answer), Names{"open"});
    EXPECT_EQ(answer.dump().find("secret.example"), std::string::npos);
}

TEST_F(StreamListTest, BoundsThePageAndNamesTheNext) {
    for (int i = 0; i < 105; ++i)
        client(ClientKind::fmle_publish, "s" + std::to_string(i));
    EXPECT_EQ(list()["streams"].size(), StreamListHandler::kCountDefault);
    Json answer = list("?count=1000000");
    EXPECT_EQ(answer["streams"].size(), StreamListHandler::kCountMax);
    Names all = names(answer);
    answer = list("?from=" + answer["next"].dump());
    EXPECT_EQ(answer["next"], nullptr);
    for (const std::string& name : names(answer))
        all.push_back(name);
    ASSERT_EQ(all.size(), 105U);
    EXPECT_EQ(all.back(), "s104");
    EXPECT_EQ(list("?count=0")["streams"].size(), 1U);
    EXPECT_EQ(list("?from=99999999999999999999")["streams"].size(), StreamListHandler::kCountDefault) << "no number";
    EXPECT_EQ(list("?from=1000000")["streams"].size(), 0U);
}

TEST_F(StreamListTest, BoundsTheExaminedStreams) {
    for (std::size_t i = 0; i < StreamListHandler::kLooksMax; ++i)
        client(ClientKind::fmle_publish, "s" + std::to_string(i), "secret.example");
    client(ClientKind::fmle_publish, "last");
    settings.hidden = "secret.example";
    const Json first = list();
    EXPECT_EQ(names(first), Names{});
    ASSERT_NE(first["next"], nullptr);
    EXPECT_EQ(names(list("?from=" + first["next"].dump())), Names{"last"});
}

TEST_F(StreamListTest, RefusesInvalidRequests) {
    EXPECT_EQ(ask("/streams.json", "POST").status, 405);
    EXPECT_EQ(ask("/streams.json", "HEAD").status, 200);
    headers = {};
    EXPECT_EQ(ask("/streams.json").status, 400);
    settings.enabled = false;
    EXPECT_EQ(ask("/streams.json").status, 404);
}

// This is worker 2 of three, and the test is the two others.
class StreamListOfWorkersTest : public service::workers::WorkerFixture {
protected:
    StreamListOfWorkersTest() : WorkerFixture({2, 3}) {
        table_.add_watcher(stream_stats_);
        own_.enter(io::now());
        MUST(workers_.start(fibers_, io::Deadline::never()));
    }
    ~StreamListOfWorkersTest() override {
        own_.leave();
        MUST(fibers_.stop(io::Deadline::after(io::kSoon)));
    }

    nlohmann::ordered_json list(const std::string& query) {
        Request request = request_of(StreamListHandler::kPath + query);
        request.message.headers.add("Host", "h");
        return nlohmann::ordered_json::parse(handler_.handle(request, io::Deadline::after(io::kSoon)).body, nullptr, false);
    }
    // A report of one stream.
    static std::string report(const std::string& name, const std::string& hls, std::optional<std::uint64_t> next) {
        std::string report = engine::workers::write_row_report({{"next", next}});
        engine::workers::append_row(
            report, {{"vhost", "__defaultVhost__"}, {"app", "live"}, {"name", name}, {"by_rtc", false}, {"hls", hls}});
        return report;
    }

    ServerInfo info_;
    session::ClientTable table_;
    service::stats::StreamStats stream_stats_{streams_};
    FakeListSettings settings_;
    service::workers::NoEvents events_;
    service::workers::WorkerService workers_{{line_.get(), streams_, http_, {}, {}}, events_, log_};
    FakeClient own_{table_, ClientKind::fmle_publish, "own", "id"};
    StreamListHandler handler_{info_, stream_stats_, settings_, &workers_};
};

TEST_F(StreamListOfWorkersTest, PagesContinueAcrossWorkers) {
    std::vector<std::string> asked;
    answer_as_others([&](engine::workers::Worker worker, const std::string& request) -> std::optional<std::string> {
        if (request.find("viewers=1") != std::string::npos)
            return std::nullopt;
        asked.push_back(std::to_string(worker) + request.substr(3, request.find(" HTTP") - 3));
        if (worker == 3)
            return report("own", "hls", std::nullopt);
        return report("first", "", request.find("from=0&") != std::string::npos ? std::optional(std::uint64_t{7}) : std::nullopt);
    });
    const auto first = list("?count=1");
    EXPECT_EQ(StreamListTest::names(first), StreamListTest::Names{"first"});
    const auto second = list("?count=1&from=" + first["next"].dump());
    EXPECT_EQ(StreamListTest::names(second), StreamListTest::Names{"first"}) << "what worker 1 has from number 7 on";
    const auto third = list("?count=9&from=" + second["next"].dump());
    ASSERT_EQ(StreamListTest::names(third), StreamListTest::Names{"own"}) << "of two workers, and once";
    EXPECT_EQ(third["streams"][0]["formats"].size(), 2U) << "with the playlist of the other";
    EXPECT_TRUE(third["next"].is_null());
    EXPECT_EQ(asked, (std::vector<std::string>{"1 /streams.json?from=0&count=1", "1 /streams.json?from=7&count=1",
                                               "3 /streams.json?from=0&count=8"}));
}

TEST_F(StreamListOfWorkersTest, AddsTheViewersOfAllWorkersUp) {
    FakeClient player(table_, ClientKind::rtmp_play, "own", "player");
    player.enter(io::now());
    answer_as_others([&](engine::workers::Worker worker, const std::string& request) -> std::optional<std::string> {
        EXPECT_NE(request.find("stream=%2Flive%2Fown "), std::string::npos) << request;
        std::string report = engine::workers::write_row_report({{"next", nullptr}});
        if (request.find("viewers=1") == std::string::npos)
            return report;  // they do not publish it
        engine::workers::Row viewers{{"type", "rtmp-play"}, {"count", std::uint64_t{worker}, engine::workers::Combine::add}};
        viewers.key = "rtmp-play";
        engine::workers::append_row(
            report, {{"url", "/live/own"}, {"viewers", engine::workers::Rows{viewers}, engine::workers::Combine::add}});
        return report;
    });
    const auto one = list("?stream=/live/own");
    EXPECT_EQ(StreamListTest::names(one), StreamListTest::Names{"own"});
    EXPECT_EQ(one["streams"][0]["viewers"], nlohmann::ordered_json::parse(R"([{"type":"rtmp-play","count":5}])"));
    player.leave();
}

TEST_F(StreamListOfWorkersTest, SkipsWorkersWithoutReport) {
    answer_as_others([](engine::workers::Worker worker, const std::string&) -> std::optional<std::string> {
        return worker == 1 ? std::nullopt : std::optional<std::string>(R"({"streams": 1})");
    });
    const auto answer = list("");
    EXPECT_EQ(StreamListTest::names(answer), StreamListTest::Names{"own"});
    EXPECT_TRUE(answer["next"].is_null());
}

}  // namespace
}  // namespace live::api
