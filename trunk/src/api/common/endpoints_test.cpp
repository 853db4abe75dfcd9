#include "api/common/endpoints.hpp"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"

namespace live::api {
namespace {

using session::http::Handler;
using session::http::Reply;
using session::http::Request;
using Json = nlohmann::ordered_json;

// Answers with the number of the request.
class Counting final : public Handler {
public:
    Reply handle(const Request&, io::Deadline) override { return {.body = std::to_string(++requests), .headers = {}}; }
    int requests = 0;
};

struct EndpointsTest : HandlerFixtureOf<Json> {
    Json urls(const std::string& path) { return ask_json(path)["urls"]; }
    Counting handler;
};

TEST(RouteTable, EveryPathIsListedOnceAndDescribed) {
    std::set<std::string_view> paths;
    for (const Route& route : routes()) {
        EXPECT_TRUE(paths.insert(route.path).second) << route.path;
        EXPECT_TRUE(route.path.starts_with('/')) << route.path;
        EXPECT_FALSE(route.text.empty()) << route.path;
        EXPECT_FALSE(route.answer.content_type.empty()) << route.path;
        const bool is_combined =
            route.answerer == Answerer::all || route.answerer == Answerer::entries || route.answerer == Answerer::joined;
        EXPECT_TRUE(!is_combined || !route.answer.key.empty()) << route.path;
        const bool has_entries = route.answerer == Answerer::joined && route.path.ends_with('/');
        EXPECT_TRUE(!has_entries || !route.answer.one.empty()) << route.path;
        for (const Parameter& parameter : route.parameters)
            EXPECT_FALSE(parameter.name.empty() || parameter.text.empty()) << route.path;
    }
}

TEST(RouteTable, FindsRowsAsTheRouterDoes) {
    const auto path_of = [](std::string_view path) {
        const Route* route = find_route(path);
        return route == nullptr ? std::string_view() : route->path;
    };
    EXPECT_EQ(path_of("/api/v1/clients/abc"), "/api/v1/clients/");
    EXPECT_EQ(path_of("/api/v1/clients"), "/api/v1/") << "the router redirects it";
    EXPECT_EQ(path_of("/api/v1/versions/"), "/api/v1/versions");
    EXPECT_EQ(path_of("/api/v1/versions/x"), "/api/v1/");
    EXPECT_EQ(path_of("/rtc/v1/whip"), "/rtc/v1/whip/");
    EXPECT_EQ(path_of("/rtc/v1/whip-play/s"), "/rtc/v1/whip-play/");
    EXPECT_EQ(path_of("/live/cam.flv"), "/");
    EXPECT_EQ(path_of("*"), "");
}

TEST(RouteTable, MethodsHaveNames) {
    EXPECT_EQ(Methods::read().text(), "GET, HEAD, OPTIONS");
    EXPECT_EQ((Methods{Method::patch, Method::post, Method::del}).text(), "POST, DELETE, PATCH, OPTIONS");
    EXPECT_TRUE(Methods::any().allow("BREW"));
    EXPECT_FALSE(Methods::any().names(Method::post));
    EXPECT_FALSE(Methods::read().allow("POST"));
    EXPECT_FALSE((Methods{Method::get}).allow("HEAD"));
}

TEST_F(EndpointsTest, RefusesMethodsThatTheRowDoesNotName) {
    endpoints.serve("/api/v1/clients/", handler);
    endpoints.serve("/api/v1/drain", handler);
    const auto allowed = [&](const std::string& target, const std::string& method) {
        const Reply reply = ask(target, method);
        EXPECT_EQ(reply.status, 405) << method << " " << target;
        return reply.headers.empty() ? std::string() : reply.headers[0].second;
    };
    EXPECT_EQ(allowed("/api/v1/clients/x", "POST"), "GET, HEAD, DELETE, OPTIONS");
    EXPECT_EQ(allowed("/api/v1/drain", "DELETE"), "GET, POST, OPTIONS");
    EXPECT_EQ(handler.requests, 0);
    EXPECT_EQ(ask("/api/v1/clients/x", "DELETE").status, 200);
    EXPECT_EQ(ask("/api/v1/drain", "POST").status, 200);
    EXPECT_EQ(handler.requests, 2);
}

TEST_F(EndpointsTest, ServesRowsOnThePortsTheyName) {
    session::http::Router exporter, streams;
    endpoints.mount(exporter, Ports::exporter);
    endpoints.serve("/metrics", handler);
    endpoints.serve("/streams.json", handler);
    endpoints.mount(streams, Ports::streams);
    EXPECT_NE(exporter.find("/metrics").handler, nullptr);
    EXPECT_EQ(exporter.find("/streams.json").handler, nullptr);
    EXPECT_EQ(exporter.find("/api/v1/").handler, nullptr);
    EXPECT_EQ(streams.find("/metrics").handler, nullptr);
    EXPECT_NE(streams.find("/streams.json").handler, nullptr);
}

TEST_F(EndpointsTest, FoldersThatAcceptPostNeedNoSlash) {
    endpoints.serve("/rtc/v1/whip/", handler);
    for (const char* path : {"/rtc/v1/whip", "/rtc/v1/whip/", "/rtc/v1/whip/session"})
        EXPECT_EQ(ask(path, "POST").status, 200) << path;
    endpoints.serve("/api/v1/clients/", handler);
    EXPECT_EQ(router.find("/api/v1/clients").redirect, "/api/v1/clients/");
}

TEST_F(EndpointsTest, IndexesListTheRowsBelowThem) {
    const Json root = urls("/");
    EXPECT_EQ(root.size(), 2U) << root.dump();
    EXPECT_TRUE(root["api"].is_string());
    EXPECT_EQ(root["rtc"]["v1"].size(), 3U) << root.dump();
    EXPECT_EQ(urls("/api/").size(), 1U);
    const Json v1 = urls("/api/v1/");
    EXPECT_EQ(v1.begin().key(), "versions");
    EXPECT_TRUE(v1["configs/warnings"].is_string());
    EXPECT_EQ(v1["tests"].size(), 4U);
    EXPECT_FALSE(v1.contains("upgrade"));
    EXPECT_FALSE(v1.contains("valgrind"));
    endpoints.serve("/api/v1/valgrind", handler);
    EXPECT_TRUE(urls("/api/v1/")["valgrind"].is_string());
}

TEST_F(EndpointsTest, UnknownPathsBelowAnIndexAreNotFound) {
    for (const char* path : {"/api/v1/nothing", "/api/v1/versions", "/api/v1/perf", "/rtc/v1/nack/", "/nowhere"})
        EXPECT_EQ(ask(path, "POST").status, 404) << path << ": no handler serves it";
}

}  // namespace
}  // namespace live::api
