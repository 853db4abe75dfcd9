#include "api/streams/stats_handlers.hpp"

#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "session/common/client_fixture.hpp"

namespace live::api {
namespace {

using HandlerFixture = HandlerFixtureOf<nlohmann::ordered_json>;

using session::ClientKind;
using session::FakeClient;
using session::http::Reply;

class FakeSettings final : public VhostSettings {
public:
    Shown find(const std::string& name) const override {
        return name == "hls.example" ? Shown{true, 10s} : Shown{name == "__defaultVhost__", {}};
    }
};

struct StatsApiTest : HandlerFixture {
    StatsApiTest() {
        table.add_watcher(stream_stats);
        add_stats(endpoints, stream_stats, settings);
    }
    ~StatsApiTest() override {
        for (const auto& each : clients)
            if (each->stay)
                each->leave();
    }
    FakeClient& client(ClientKind kind, const std::string& stream = "cam") {
        clients.push_back(std::make_unique<FakeClient>(table, kind, stream, "id" + std::to_string(clients.size())));
        clients.back()->enter(io::now());
        return *clients.back();
    }

    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    service::stats::StreamStats stream_stats{streams};
    session::ClientTable table;
    std::vector<std::unique_ptr<FakeClient>> clients;
    FakeSettings settings;
};

TEST_F(StatsApiTest, EmptyListsAreArrays) {
    for (const char* name : {"vhosts", "streams", "clients"}) {
        const Json json = ask_json(std::string("/api/v1/") + name + "/");
        EXPECT_TRUE(json[name].is_array() && json[name].empty());
        EXPECT_EQ(router.find(std::string_view("/api/v1/" + std::string(name))).redirect, std::string("/api/v1/") + name + "/");
    }
}

TEST_F(StatsApiTest, ListsTheClientsOfAStreamAlone) {
    for (int i = 0; i < 25; ++i)
        client(ClientKind::rtmp_play, i % 5 == 0 ? "other" : "cam");
    const std::string id = stream_stats.find_stream_of("/live/other")->id;
    Json page = ask_json("/api/v1/clients/?count=3&stream=" + id);
    EXPECT_EQ(page["total"], 5);
    EXPECT_EQ(page["next"], 3);
    ASSERT_EQ(page["clients"].size(), 3U);
    EXPECT_EQ(page["clients"][2]["id"], "id10");
    page = ask_json("/api/v1/clients/?start=3&stream=" + id);
    EXPECT_EQ(page["clients"].size(), 2U);
    EXPECT_EQ(page["next"], nullptr);
    EXPECT_EQ(ask_json("/api/v1/clients/?stream=none")["total"], 0);
    EXPECT_EQ(ask_json("/api/v1/clients/")["total"], 25);
}

TEST_F(StatsApiTest, VhostsHaveEveryField) {
    client(ClientKind::fmle_publish);
    const Json one = ask_json("/api/v1/vhosts/")["vhosts"][0];
    expect_fields(one, {{"id", kText},
                        {"name", kText},
                        {"enabled", kBool},
                        {"clients", kWhole},
                        {"streams", kWhole},
                        {"send_bytes", kWhole},
                        {"recv_bytes", kWhole},
                        {"kbps", kObject},
                        {"hls", kObject}});
    expect_fields(one["kbps"], {{"recv_30s", kWhole}, {"send_30s", kWhole}});
    expect_fields(one["hls"], {{"enabled", kBool}});
    EXPECT_EQ(one["name"], "__defaultVhost__");
    EXPECT_EQ(one["enabled"], true);
    EXPECT_EQ(ask_json("/api/v1/vhosts/" + one["id"].get<std::string>())["vhost"], one);
    clients.push_back(std::make_unique<FakeClient>(table, ClientKind::rtmp_play, "x", "other"));
    clients.back()->plan.vhost = "hls.example";
    clients.back()->enter(io::now());
    const Json other = ask_json("/api/v1/vhosts/")["vhosts"][1];
    expect_fields(other["hls"], {{"enabled", kBool}, {"fragment", kReal}});
    EXPECT_EQ(other["hls"]["fragment"], 10.0);
}

TEST_F(StatsApiTest, StreamsHaveEveryField) {
    const auto source = *streams.find_or_create("/live/cam", {}, 60'000);
    client(ClientKind::fmle_publish);
    client(ClientKind::rtmp_play);
    const Fields fields{{"id", kText},
                        {"name", kText},
                        {"vhost", kText},
                        {"app", kText},
                        {"tcUrl", kText},
                        {"url", kText},
                        {"live_ms", kWhole},
                        {"clients", kWhole},
                        {"frames", kWhole},
                        {"send_bytes", kWhole},
                        {"recv_bytes", kWhole},
                        {"kbps", kObject},
                        {"publish", kObject},
                        {"video", kObject},
                        {"audio", kObject},
                        {"fps", kReal},
                        {"gop", kObject},
                        {"tracks", kObject},
                        {"track_list", Json::value_t::array},
                        {"dropped_packets", kWhole},
                        {"role", kText},
                        {"forwards", Json::value_t::array},
                        {"b_frames", kBool},
                        {"slate", kBool}};
    Fields silent = fields;
    for (auto& [name, type] : silent)
        if (name == "video" || name == "audio")
            type = kNull;
    expect_fields(ask_json("/api/v1/streams/")["streams"][0], silent);

    const auto append = [&source](MediaKind kind, const char* text, bool key, bool config) {
        const auto bytes = hex(text);
        source->append(media::tag_packet(kind, key, config, MediaTime(0), Slice::copy_of(bytes)));
    };
    append(MediaKind::video,
           "17 00 000000 0164001fffe1001a6764001facd9405005bb011000000300100000030320f183196001000668ebe3cb22c0fdf8f800", false,
           true);
    append(MediaKind::audio, "af 00 1210", false, true);
    append(MediaKind::video, "17 01 000000 00", true, false);
    const Json one = ask_json("/api/v1/streams/")["streams"][0];
    expect_fields(one, fields);
    expect_fields(one["video"], {{"codec", kText}, {"profile", kText}, {"level", kText}, {"width", kWhole}, {"height", kWhole}});
    EXPECT_EQ(one["video"], Json::parse(R"({"codec":"H264","profile":"High","level":"3.1","width":1280,"height":720})"));
    EXPECT_EQ(one["audio"], Json::parse(R"({"codec":"AAC","sample_rate":44100,"channel":2,"profile":"LC"})"));
    EXPECT_EQ(one["track_list"], Json::parse(R"([
        {"kind":"video","id":0,"default":true,"rendition":false,"language":"","name":"",
         "video":{"codec":"H264","profile":"High","level":"3.1","width":1280,"height":720}},
        {"kind":"audio","id":0,"default":true,"rendition":false,"language":"","name":"",
         "audio":{"codec":"AAC","sample_rate":44100,"channel":2,"profile":"LC"}}])"));
    EXPECT_EQ(one["publish"], Json::parse(R"({"active":true,"cid":"id0"})"));
    EXPECT_EQ(one["clients"], 2);
    EXPECT_EQ(one["b_frames"], false);
    source->tracks().note_b_frames();
    EXPECT_EQ(ask_json("/api/v1/streams/")["streams"][0]["b_frames"], true);
    EXPECT_EQ(one["frames"], 2);
    EXPECT_EQ(one["tracks"]["audio"], Json::parse(R"({"packets":1,"bytes":4})"));
    EXPECT_EQ(one["url"], "/live/cam");
    EXPECT_EQ(one["tcUrl"], "rtmp://h/live");
    EXPECT_EQ(one["vhost"], ask_json("/api/v1/vhosts/")["vhosts"][0]["id"]);
    const Json alone = ask_json("/api/v1/streams/" + one["id"].get<std::string>());
    EXPECT_EQ(alone["stream"]["id"], one["id"]);
    clients[0]->leave();
    EXPECT_EQ(ask_json("/api/v1/streams/")["streams"][0]["publish"], Json::parse(R"({"active":false})"));
}

TEST_F(StatsApiTest, ClientsHaveEveryField) {
    FakeClient& player = client(ClientKind::flv_play);
    player.asked.extension = ".flv";
    player.asked.ip = "10.0.0.7";
    player.asked.page_url = "http://page/\xff";
    player.now = {11, 22, 33, 44, 55, 1500ms};
    const Json one = ask_json("/api/v1/clients/")["clients"][0];
    expect_fields(one, {{"id", kText},
                        {"vhost", kText},
                        {"stream", kText},
                        {"ip", kText},
                        {"pageUrl", kText},
                        {"swfUrl", kText},
                        {"tcUrl", kText},
                        {"url", kText},
                        {"name", kText},
                        {"type", kText},
                        {"publish", kBool},
                        {"alive", kReal},
                        {"send_bytes", kWhole},
                        {"recv_bytes", kWhole},
                        {"kbps", kObject},
                        {"relay", kBool},
                        {"delivered_packets", kWhole},
                        {"dropped_packets", kWhole},
                        {"queued_packets", kWhole},
                        {"queue_delay_ms", kWhole}});
    EXPECT_EQ(one["id"], "id0");
    EXPECT_EQ(one["relay"], false);
    EXPECT_EQ(one["name"], "cam.flv");
    EXPECT_EQ(one["type"], "flv-play");
    EXPECT_EQ(one["publish"], false);
    EXPECT_EQ(one["recv_bytes"], 11);
    EXPECT_EQ(one["send_bytes"], 22);
    EXPECT_EQ(one["dropped_packets"], 44);
    EXPECT_EQ(one["queue_delay_ms"], 1500);
    EXPECT_EQ(one["stream"], ask_json("/api/v1/streams/")["streams"][0]["id"]);
    EXPECT_EQ(ask_json("/api/v1/clients/id0")["client"]["id"], "id0");
}

TEST_F(StatsApiTest, ShowsLinkFiguresOfTheProtocol) {
    client(ClientKind::srt_publish).link = session::LinkFigures{"srt",
                                                                {{"rtt_ms", 12.5},
                                                                 {"loss", std::uint64_t{3}},
                                                                 {"retrans", std::uint64_t{2}},
                                                                 {"drop", std::uint64_t{1}},
                                                                 {"latency_ms", std::uint64_t{120}},
                                                                 {"peer_version", "1.5.1"},
                                                                 {"encrypted", true},
                                                                 {"key_bits", std::uint64_t{128}}}};
    EXPECT_EQ(ask_json("/api/v1/clients/")["clients"][0]["srt"],
              Json::parse(R"({"rtt_ms":12.5,"loss":3,"retrans":2,"drop":1,"latency_ms":120,"peer_version":"1.5.1",)"
                          R"("encrypted":true,"key_bits":128})"));
}

TEST_F(StatsApiTest, MissingEntryHasCodeAndStatus) {
    EXPECT_EQ(ask_json("/api/v1/vhosts/vid-0000000", 404)["code"], 2014);
    EXPECT_EQ(ask_json("/api/v1/streams/vid-0000000", 404)["code"], 2048);
    EXPECT_EQ(ask_json("/api/v1/clients/nobody", 404)["code"], 2049);
    EXPECT_EQ(ask_json("/api/v1/clients/nobody/else", 404)["code"], 2049);
    EXPECT_EQ(ask("/api/v1/clients/nobody", "DELETE").status, 404);
    EXPECT_EQ(ask("/api/v1/clients/", "DELETE").status, 404);
    const Reply posted = ask("/api/v1/clients/", "POST");
    EXPECT_EQ(posted.status, 405);
    EXPECT_EQ(posted.headers, (std::vector<std::pair<std::string, std::string>>{{"Allow", "GET, HEAD, DELETE, OPTIONS"}}));
    EXPECT_EQ(ask("/api/v1/streams/", "DELETE").status, 405);
    EXPECT_EQ(ask("/api/v1/vhosts/x", "PUT").status, 405);
}

TEST_F(StatsApiTest, DeleteKicks) {
    FakeClient& player = client(ClientKind::rtmp_play);
    const Reply reply = ask("/api/v1/clients/id0", "DELETE");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(Json::parse(reply.body)["code"], 0);
    EXPECT_EQ(player.kicked, "an operator has ended it");
    FakeClient& other = client(ClientKind::rtmp_play);
    EXPECT_EQ(ask("/api/v1/clients/id1?callback=f&method=DELETE").status, 200) << "a GET";
    EXPECT_EQ(other.kicked, "") << "a GET changes nothing, whatever its query says";
}

TEST_F(StatsApiTest, ListsComeInPagesOfTenOrAsAsked) {
    for (int i = 0; i < 25; ++i)
        client(ClientKind::rtmp_play, "s" + std::to_string(i));
    const auto count = [this](const std::string& query) {
        const std::size_t streams_shown = ask_json("/api/v1/streams/" + query)["streams"].size();
        EXPECT_EQ(ask_json("/api/v1/clients/" + query)["clients"].size(), streams_shown) << query;
        return streams_shown;
    };
    EXPECT_EQ(count(""), 10U);
    EXPECT_EQ(count("?count=1"), 1U);
    EXPECT_EQ(count("?count=20"), 20U);
    EXPECT_EQ(count("?start=20"), 5U);
    EXPECT_EQ(count("?start=25"), 0U);
    EXPECT_EQ(count("?count=99999999"), 25U);
    EXPECT_EQ(count("?start=&count="), 10U);
    for (const char* query :
         {"?count=0", "?count=-1", "?count=abc", "?count=999999999999999999999999", "?start=-1", "?start=abc", "?start=1.5"})
        for (const char* list : {"streams", "clients", "vhosts"})
            EXPECT_NE(ask_json(std::string("/api/v1/") + list + "/" + query, 400)["code"], 0) << list << query;
    EXPECT_EQ(ask_json("/api/v1/clients/?start=3")["clients"][0]["id"], "id3");
    clients[3]->leave();
    EXPECT_EQ(ask_json("/api/v1/clients/?start=3")["clients"][0]["id"], "id4");
    EXPECT_EQ(ask_json("/api/v1/streams/?start=3")["streams"][0]["name"], "s4");
}

TEST_F(StatsApiTest, ListsHaveATotalAndTheNextPage) {
    for (int i = 0; i < 25; ++i)
        client(ClientKind::rtmp_play, "s" + std::to_string(i));
    for (const char* list : {"/api/v1/streams/", "/api/v1/clients/"}) {
        const std::string path = list;
        EXPECT_EQ(ask_json(path)["total"], 25) << path;
        EXPECT_EQ(ask_json(path)["next"], 10) << path;
        EXPECT_EQ(ask_json(path + "?start=10&count=14")["next"], 24) << path;
        EXPECT_EQ(ask_json(path + "?start=10&count=15")["next"], nullptr) << path;
        EXPECT_EQ(ask_json(path + "?start=30")["next"], nullptr) << path;
        EXPECT_EQ(ask_json(path + "?start=30")["total"], 25) << path;
    }
    const Json vhosts = ask_json("/api/v1/vhosts/");
    EXPECT_EQ(vhosts["total"], vhosts["vhosts"].size());
    EXPECT_EQ(vhosts["next"], nullptr);
    EXPECT_TRUE(ask_json("/api/v1/vhosts/?start=99")["vhosts"].empty());
}

TEST_F(StatsApiTest, LongListYieldsAndStaysConsistent) {
    constexpr std::size_t kMany = ListHandler::kPortion * 3 + 1;
    for (std::size_t i = 0; i < kMany; ++i)
        client(ClientKind::rtmp_play);
    // The first half leaves meanwhile; entries already listed stay listed.
    io::Scope scope("leaving");
    ASSERT_TRUE(scope
                    .start("leaving",
                           [this](io::Deadline) {
                               for (std::size_t i = 0; i < kMany / 2; ++i)
                                   clients[i]->leave();
                           })
                    .ok());
    const Json list = ask_json("/api/v1/clients/?count=10000")["clients"];
    EXPECT_TRUE(scope.stop(io::Deadline::after(io::kSoon)).ok());
    std::set<std::string> ids;
    for (const Json& each : list)
        ids.insert(each["id"]);
    EXPECT_EQ(ids.size(), list.size());
    for (std::size_t i = kMany / 2; i < kMany; ++i)
        EXPECT_TRUE(ids.contains("id" + std::to_string(i)));
}

}  // namespace
}  // namespace live::api
