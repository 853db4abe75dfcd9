#include "app/server.hpp"

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/net/tcp_stream.hpp"
#include "service/http_client/http_client.hpp"

namespace live::app {
namespace {

struct NoUpgrade final : api::UpgradeControl {
    api::UpgradeFacts upgrade_facts() const override { return {}; }
    Result<std::uint32_t> upgrade(io::Deadline) override { return Error(Errc::unsupported, "no upgrade in a test"); }
};

struct AppServerTest : ::testing::Test {
    // An unused port of this moment.
    Endpoint free_endpoint() { return MUST(io::TcpListener::listen({"127.0.0.1", 0}))->endpoint(); }
    settings::Settings settings_with(const Endpoint& rtmp) {
        settings::Settings settings;
        settings.listen = {rtmp.text()};
        settings.access_log = "off";
        settings.vhosts.resize(1);
        settings.vhosts[0].name = std::string(settings::kDefaultVhost);
        settings.pid = ::testing::TempDir() + "server_test.pid";
        return settings;
    }
    Result<std::unique_ptr<Server>> create(settings::Settings settings) {
        ServerNames names;
        names.server_id = "vid-1";
        names.service_id = "1";
        names.upgrade = &upgrade;
        return Server::create(std::move(settings), std::move(names), 100, log);
    }
    static bool accepts(const Endpoint& at) {
        return io::TcpStream::connect(at, io::Deadline::after(std::chrono::seconds(5))).ok();
    }
    void stop(Server& server) { server.stop(io::Deadline::after(std::chrono::seconds(5))); }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Log log;
    NoUpgrade upgrade;
};

TEST_F(AppServerTest, AcceptsClientsFromStartToStop) {
    const Endpoint rtmp = free_endpoint();
    const auto server = MUST(create(settings_with(rtmp)));
    EXPECT_TRUE(accepts(rtmp));
    EXPECT_FALSE(server->is_cluster_node());
    stop(*server);
    EXPECT_FALSE(accepts(rtmp));
    EXPECT_EQ(server->connections(), 0U);
}

TEST_F(AppServerTest, EveryPartHasItsRoutes) {
    const Endpoint api = free_endpoint();
    settings::Settings settings = settings_with(free_endpoint());
    settings.http_api.enabled = true;
    settings.http_api.listen = {api.text()};
    settings.exporter.enabled = true;
    settings.exporter.listen = {api.text()};
    const auto server = MUST(create(std::move(settings)));
    std::vector<std::uint8_t> scratch(64 << 10);
    const service::http_client::HttpClient client("test/1", scratch, nullptr);
    for (const char* path :
         {"/api/v1/versions", "/api/v1/clients/", "/api/v1/clusters", "/api/v1/cluster/where?stream=/a/b", "/api/v1/forwards",
          "/api/v1/ingests", "/api/v1/dvrs", "/api/v1/uploads", "/api/v1/uploads/state", "/api/v1/transcodes", "/api/v1/memory",
          "/api/v1/doctor/srt", "/api/v1/doctor/rtc", "/api/v1/drain", "/api/v1/upgrade", "/metrics", "/readyz"}) {
        const auto answer = client.call({.method = "GET",
                                         .url = "http://" + api.text() + path,
                                         .headers = {},
                                         .body = {},
                                         .answer_bytes_max = std::size_t{1} << 20},
                                        io::Deadline::after(std::chrono::seconds(10)));
        ASSERT_TRUE(answer.ok()) << path << ": " << answer.error().text();
        EXPECT_NE(answer->status, 404) << path;
    }
    stop(*server);
}

TEST_F(AppServerTest, DoesNotStartOnATakenPort) {
    const auto other = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    EXPECT_EQ(create(settings_with(other->endpoint())).code(), Errc::conflict);
}

TEST_F(AppServerTest, ReloadOpensNewPortsAndClosesOldOnes) {
    const Endpoint before = free_endpoint();
    const Endpoint after = free_endpoint();
    const auto server = MUST(create(settings_with(before)));
    ASSERT_TRUE(server->reload(settings_with(after), 100).ok());
    EXPECT_TRUE(accepts(after));
    EXPECT_FALSE(accepts(before));
    stop(*server);
}

TEST_F(AppServerTest, FailedReloadKeepsTheSettings) {
    const Endpoint before = free_endpoint();
    const auto other = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    const auto server = MUST(create(settings_with(before)));
    EXPECT_EQ(server->reload(settings_with(other->endpoint()), 100).code(), Errc::conflict);
    EXPECT_EQ(server->settings().listen.front(), before.text());
    EXPECT_TRUE(accepts(before));
    stop(*server);
}

}  // namespace
}  // namespace live::app
