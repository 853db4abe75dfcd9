#include "api/stream_list_handler.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/handler_fixture.hpp"
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
        router.add(StreamListHandler::kPath, handler);
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
TEST_F(StreamListTest, AnotherWorkerGetsAllStreamsOfThisOne) {
    client(ClientKind::fmle_publish, "cam");
    client(ClientKind::fmle_publish, "hidden", "other");
    settings.hidden = "other";
    Request request;
    request.message.method = "GET";
    request.is_sibling = true;
    const auto page = [&](const std::string& query) {
        request.message.target = StreamListHandler::kPath + query;
        request.target = MUST(wire::http::parse_target(request.message.target));
        return Json::parse(handler.handle(request, io::Deadline::never()).body, nullptr, false);
    };
    EXPECT_EQ(names(page("")), (Names{"cam", "hidden"}));
    EXPECT_EQ(page("")["next"], nullptr);
    const Json first = page("?count=1");
    EXPECT_EQ(names(first), Names{"cam"});
    EXPECT_EQ(names(page("?count=1&from=" + first["next"].dump())), Names{"hidden"});
    EXPECT_EQ(names(list()), Names{"cam"});
}

TEST_F(StreamListTest, SaysWhatIsLiveAndNothingOfClients) {
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

TEST_F(StreamListTest, APlaylistIsListedWhereThereIsOne) {
    client(ClientKind::fmle_publish, "cam");
    EXPECT_EQ(list()["streams"][0]["formats"].size(), 1U);
    settings.hls = "cam";
    const Json cam = list()["streams"][0];
    EXPECT_EQ(cam["formats"][1], Json::parse(R"({"format":"hls","url":"http://h/live/cam"})"));
    EXPECT_FALSE(cam.contains("hls"));
}

TEST_F(StreamListTest, HidesWhatTheRulesOfAVirtualHostHide) {
    client(ClientKind::fmle_publish, "open");
    client(ClientKind::fmle_publish, "closed", "secret.example");
    settings.hidden = "secret.example";
    const Json answer = list();
    EXPECT_EQ(names(answer), Names{"open"});
    EXPECT_EQ(answer.dump().find("secret.example"), std::string::npos);
}

TEST_F(StreamListTest, AnAnswerIsBoundedAndSaysWhereTheNextOneBegins) {
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

TEST_F(StreamListTest, LooksAtSoManyStreamsAndNoMore) {
    for (std::size_t i = 0; i < StreamListHandler::kLooksMax; ++i)
        client(ClientKind::fmle_publish, "s" + std::to_string(i), "secret.example");
    client(ClientKind::fmle_publish, "last");
    settings.hidden = "secret.example";
    const Json first = list();
    EXPECT_EQ(names(first), Names{});
    ASSERT_NE(first["next"], nullptr);
    EXPECT_EQ(names(list("?from=" + first["next"].dump())), Names{"last"});
}

TEST_F(StreamListTest, RefusesWhatItDoesNotAnswer) {
    EXPECT_EQ(ask("/streams.json", "POST").status, 405);
    EXPECT_EQ(ask("/streams.json", "HEAD").status, 200);
    headers = {};
    EXPECT_EQ(ask("/streams.json").status, 400);
    settings.enabled = false;
    EXPECT_EQ(ask("/streams.json").status, 404);
}

}  // namespace
}  // namespace live::api
