#include "service/relay/upstream_request.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

session::ClientRequest player(std::string param) {
    session::ClientRequest request;
    request.app = "live";
    request.stream = "cam";
    request.param = std::move(param);
    return request;
}

const Node kNode{"vid-1", "Millrace/7", "7.1.0", 42};

TEST(UpstreamRequest, AsksForTheSameStreamWithTheClientsQuery) {
    const auto request = upstream_request({"192.0.2.1", 19350, false, false}, player("?token=x&vhost=a.example&b=2"),
                                          "__defaultVhost__", {}, kNode, "vid-1");
    EXPECT_EQ(request.tc_url, "rtmp://192.0.2.1:19350/live");
    EXPECT_EQ(request.app, "live");
    EXPECT_EQ(request.stream, "cam?token=x&b=2");
    EXPECT_EQ(request.connect_arguments.find("millrace_path")->string(), "vid-1");
    EXPECT_EQ(request.connect_arguments.find("srs_id")->string(), "vid-1");
}

TEST(UpstreamRequest, NamesTheVirtualHostAtTheOrigin) {
    ClusterOptions options;
    options.debug_srs_upnode = false;
    const Origin origin{"192.0.2.1", 1935, false, false};
    EXPECT_EQ(upstream_request(origin, player(""), "edge.example", options, kNode, "p").tc_url, "rtmp://edge.example/live");
    options.vhost = "origin-[vhost]";
    const auto request = upstream_request(origin, player(""), "edge.example", options, kNode, "p");
    EXPECT_EQ(request.tc_url, "rtmp://origin-edge.example/live");
    EXPECT_EQ(request.stream, "cam");
    EXPECT_EQ(request.connect_arguments.find("srs_id"), nullptr);
    EXPECT_EQ(upstream_request({"2001:db8::1", 1935, true, false}, player(""), "__defaultVhost__", {}, kNode, "p").tc_url,
              "rtmps://[2001:db8::1]:1935/live");
}

TEST(RelayPath, GrowsUntilItIsALoopOrTooLong) {
    EXPECT_EQ(extend_path("", "a").value(), "a");
    EXPECT_EQ(extend_path("a", "b").value(), "a,b");
    EXPECT_EQ(extend_path("a,b", "a").code(), Errc::denied);
    EXPECT_EQ(extend_path("a,b", "b").code(), Errc::denied);
    EXPECT_TRUE(extend_path("aa,bb", "a").ok()) << "a part of a name is another name";
    std::string path;
    for (std::size_t i = 0; i < kHopsMax; ++i)
        path = extend_path(path, "s" + std::to_string(i)).value();
    EXPECT_EQ(extend_path(path, "z").code(), Errc::denied);
    EXPECT_EQ(extend_path(std::string(kPathBytesMax, 'x'), "z").code(), Errc::denied);
    EXPECT_TRUE(extend_path(",,,", "z").ok());
}

}  // namespace
}  // namespace live::service::relay
