#include "api/system/server_handlers.hpp"

#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/version.hpp"
#include "engine/http1/parser.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_stream.hpp"
#include "session/http/acceptor.hpp"

namespace live::api {
namespace {

using io::kSoon;
using Json = nlohmann::ordered_json;

class Counters final : public ServerCounters {
public:
    Totals totals() const override { return {11, 22, 3}; }
};

// The whole path over loopback: a socket, the HTTP room, the router, the handlers.
class ServerHandlersTest : public testing::Test {
protected:
    void SetUp() override {
        info_.server_id = "vid-4k2m9xa";
        info_.service_id = "s7d01k2p";
        info_.process_id = 4321;
        info_.parent_id = 1;
        info_.command_line = "./objs/srs -c \xff";
        info_.working_folder = "/srv";
        info_.started = io::now();
        add_server(endpoints_, sampler_);
        endpoints_.mount(router_, Ports::api);
        auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
        acceptor_ = std::make_unique<session::http::Acceptor>(std::move(listener), nullptr, context_, places_,
                                                              session::ConnectionLimits::Kind::client, connections_, log_);
        auto* acceptor = acceptor_.get();
        MUST(listeners_.start("listener", [acceptor](io::Deadline deadline) { acceptor->run(deadline); }));
    }
    void TearDown() override {
        MUST(listeners_.stop(io::Deadline::after(kSoon)));
        MUST(connections_.stop(io::Deadline::after(kSoon)));
    }

    engine::http1::Response ask(const std::string& target, const std::string& method = "GET") {
        auto stream = MUST(io::TcpStream::connect(acceptor_->listener().endpoint(), io::Deadline::after(kSoon)));
        const std::string text = method + " " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        MUST(stream->write_all(std::array{io::as_part(as_bytes(text))}, io::Deadline::after(kSoon)));
        engine::http1::ResponseParser parser;
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            const std::size_t count = MUST(stream->read_some(buffer, io::Deadline::after(kSoon)));
            MUST(parser.feed(Bytes(buffer).first(count)));
            if (auto response = parser.next())
                return *response;
        }
    }
    // The response as JSON, with its envelope checked.
    Json ask_json(const std::string& target) {
        const auto response = ask(target);
        EXPECT_EQ(response.status, 200);
        EXPECT_EQ(response.headers.find("Content-Type"), "application/json");
        const Json json = Json::parse(response.body, nullptr, false);
        EXPECT_FALSE(json.is_discarded()) << response.body;
        EXPECT_EQ(json["code"], 0);
        EXPECT_EQ(json["server"], "vid-4k2m9xa");
        EXPECT_EQ(json["service"], "s7d01k2p");
        EXPECT_EQ(json["pid"], "4321");
        return json;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    Log log_;
    ServerInfo info_;
    Counters counters_;
    SystemSampler sampler_{counters_, {}};
    Endpoints endpoints_{info_};
    session::http::Router router_;
    session::http::Context context_{router_, scratch_, std::string(kSignature), true, {}, {}, 0};
    session::ConnectionLimits places_{10, log_};
    io::Scope connections_{"connections"};
    io::Scope listeners_{"listeners"};
    std::unique_ptr<session::http::Acceptor> acceptor_;
};

TEST_F(ServerHandlersTest, VersionsIdentifyTheServer) {
    const Json data = ask_json("/api/v1/versions?x=y")["data"];
    EXPECT_EQ(data["major"], kVersionMajor);
    EXPECT_EQ(data["minor"], kVersionMinor);
    EXPECT_EQ(data["revision"], kVersionRevision);
    EXPECT_EQ(data["version"], kVersion);
}

TEST_F(ServerHandlersTest, SummariesHaveEveryFieldWithItsType) {
    MUST(sampler_.sample(io::Deadline::after(kSoon)));
    EXPECT_EQ(ask_json("/api/v1/summaries")["data"]["ok"], false);
    MUST(sampler_.sample(io::Deadline::after(kSoon)));
    const Json data = ask_json("/api/v1/summaries")["data"];
    EXPECT_EQ(data["ok"], true);
    EXPECT_TRUE(data["now_ms"].is_number_integer());
    const Json& self = data["self"];
    EXPECT_EQ(self.size(), 9U);
    for (const char* name : {"version", "argv", "cwd"})
        EXPECT_TRUE(self.contains(name) && self[name].is_string()) << name;
    for (const char* name : {"pid", "ppid", "mem_kbyte", "srs_uptime"})
        EXPECT_TRUE(self.contains(name) && self[name].is_number_integer()) << name;
    for (const char* name : {"mem_percent", "cpu_percent"})
        EXPECT_TRUE(self.contains(name) && self[name].is_number()) << name;
    const Json& system = data["system"];
    EXPECT_EQ(system.size(), 28U);
    for (const char* name :
         {"disk_read_KBps", "disk_write_KBps", "mem_ram_kbyte", "mem_swap_kbyte", "cpus", "cpus_online", "net_sample_time",
          "net_recv_bytes", "net_send_bytes", "net_recvi_bytes", "net_sendi_bytes", "srs_sample_time", "srs_recv_bytes",
          "srs_send_bytes", "conn_sys", "conn_sys_et", "conn_sys_tw", "conn_sys_udp", "conn_srs"})
        EXPECT_TRUE(system.contains(name) && system[name].is_number_integer()) << name;
    for (const char* name : {"cpu_percent", "disk_busy_percent", "mem_ram_percent", "mem_swap_percent", "uptime", "ilde_time",
                             "load_1m", "load_5m", "load_15m"})
        EXPECT_TRUE(system.contains(name) && system[name].is_number()) << name;
    EXPECT_EQ(system["srs_recv_bytes"], 11);
    EXPECT_EQ(system["srs_send_bytes"], 22);
    EXPECT_EQ(system["conn_srs"], 3);
    EXPECT_GT(system["mem_ram_kbyte"], 0);
    EXPECT_GT(self["mem_kbyte"], 0);
}

TEST_F(ServerHandlersTest, IndexesListEndpointsAndOthersAreNotFound) {
    const Json root = ask_json("/");
    EXPECT_TRUE(root["urls"]["api"].is_string());
    EXPECT_TRUE(root["urls"]["rtc"]["v1"]["play"].is_string());
    EXPECT_TRUE(root["urls"]["rtc"]["v1"]["publish"].is_string());
    EXPECT_TRUE(root["urls"]["rtc"]["v1"]["nack"].is_string());
    const Json api = ask_json("/api/");
    EXPECT_TRUE(api["urls"]["v1"].is_string());
    const Json v1 = ask_json("/api/v1/");
    for (const char* name : {"versions", "summaries", "rusages", "self_proc_stats", "system_proc_stats", "meminfos", "authors",
                             "features", "requests",  "vhosts",  "streams",         "clients",           "raw",      "clusters",
                             "drain",    "perf",      "memory",  "fibers",          "profile",           "tcmalloc"})
        EXPECT_TRUE(v1["urls"][name].is_string()) << name;
    for (const char* name : {"requests", "errors", "redirects", "[vhost]"})
        EXPECT_TRUE(v1["urls"]["tests"][name].is_string()) << name;
    for (const char* path : {"/nowhere", "/openapi.json", "/docs", "/api/v9/x", "/api/v1/nothing", "/api/v1/perf",
                             "/api/v1/versions/x", "/rtc/v1/nothing/"}) {
        EXPECT_EQ(ask(path).status, 404) << path;
        EXPECT_NE(Json::parse(ask(path, "POST").body)["code"], 0) << path;
    }
    EXPECT_EQ(ask_json("/api/v1/versions/"), ask_json("/api/v1/versions"));
}

TEST_F(ServerHandlersTest, RedirectsFoldersWithoutSlash) {
    const auto response = ask("/api/v1?x=1");
    EXPECT_EQ(response.status, 302);
    EXPECT_EQ(response.headers.find("Location"), "/api/v1/?x=1");
}

// Scripts of this family POST to read-only calls.
TEST_F(ServerHandlersTest, ReadOnlyEndpointsAcceptEveryMethod) {
    for (const char* path : {"/", "/api/", "/api/v1/", "/api/v1/versions", "/api/v1/summaries"}) {
        for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
            const auto response = ask(path, method);
            EXPECT_EQ(response.status, 200) << method << " " << path;
            EXPECT_EQ(Json::parse(response.body)["code"], 0) << method << " " << path;
        }
    }
    EXPECT_EQ(ask("/api/v1/versions?callback=f&method=DELETE").status, 200);
    EXPECT_EQ(ask("/rtc/v1/nothing/", "POST").status, 404);
}

TEST_F(ServerHandlersTest, WrapsAnswersInValidCallbacks) {
    EXPECT_TRUE(ask("/api/v1/versions?callback=f").body.starts_with("{")) << "off unless switched on";
    context_.allows_jsonp = true;
    const auto response = ask("/api/v1/versions?callback=a.b_c$1");
    EXPECT_EQ(response.headers.find("Content-Type"), "text/javascript");
    EXPECT_TRUE(response.body.starts_with("a.b_c$1({\"code\":0"));
    EXPECT_TRUE(response.body.ends_with(")"));
    EXPECT_EQ(ask("/api/v1/versions?callback=alert(1)//").status, 400);
    EXPECT_EQ(ask("/api/v1/versions?callback=").status, 400);
    EXPECT_EQ(ask("/api/v1/versions?callback=" + std::string(kCallbackBytesMax, 'a')).status, 200);
    EXPECT_EQ(ask("/api/v1/versions?callback=" + std::string(kCallbackBytesMax + 1, 'a')).status, 400);
}

}  // namespace
}  // namespace live::api
