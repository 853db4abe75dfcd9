#include "session/rtmp/redirect_urls.hpp"

#include <gtest/gtest.h>

#include "wire/rtmp/stream_url.hpp"

namespace live::session::rtmp {
namespace {

ClientRequest player(std::string vhost, std::string param) {
    ClientRequest request;
    request.vhost = std::move(vhost);
    request.app = "live";
    request.stream = "cam";
    request.param = std::move(param);
    return request;
}

TEST(RedirectUrls, KeepTheQueryAndNameTheVirtualHost) {
    const auto plain = redirect_urls("192.0.2.1:19350", player("__defaultVhost__", "?token=x"));
    EXPECT_EQ(plain.tc_url, "rtmp://192.0.2.1:19350/live");
    EXPECT_EQ(plain.full, "rtmp://192.0.2.1:19350/live/cam?token=x");
    EXPECT_EQ(redirect_urls("h:1", player("192.0.2.1", "")).full, "rtmp://h:1/live/cam");
    const auto named = redirect_urls("192.0.2.1:1935", player("a.example", "?vhost=a.example"));
    EXPECT_EQ(named.full, "rtmp://192.0.2.1:1935/live/cam?vhost=a.example");
    const auto by_host = redirect_urls("192.0.2.1:1935", player("a.example", ""));
    EXPECT_EQ(by_host.tc_url, "rtmp://192.0.2.1:1935/live?vhost=a.example");
    const auto read = MUST(wire::rtmp::parse_stream_url(by_host.full));
    EXPECT_EQ(read.vhost + " " + read.app + " " + read.stream, "a.example live cam");
}

}  // namespace
}  // namespace live::session::rtmp
