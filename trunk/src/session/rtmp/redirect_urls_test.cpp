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

Redirect to(std::string place, std::string mark = {}) {
    Redirect redirect;
    redirect.rtmp = std::move(place);
    redirect.mark = std::move(mark);
    return redirect;
}

TEST(RedirectUrls, CarryTheMark) {
    const auto plain = redirect_urls(to("h:1", "hop=n0"), player("__defaultVhost__", ""));
    EXPECT_EQ(plain.tc_url, "rtmp://h:1/live?hop=n0");
    EXPECT_EQ(plain.full, "rtmp://h:1/live/cam?hop=n0");
    const auto named = redirect_urls(to("h:1", "hop=n0"), player("a.example", "?token=x"));
    EXPECT_EQ(named.tc_url, "rtmp://h:1/live?vhost=a.example&hop=n0");
    EXPECT_EQ(named.full, "rtmp://h:1/live/cam?token=x&vhost=a.example&hop=n0");
    EXPECT_EQ(MUST(wire::rtmp::parse_stream_url(named.tc_url, "cam")).app, "live");
}

// Otherwise the other server could read a different virtual host.
TEST(RedirectUrls, NameOneVirtualHost) {
    const auto urls = redirect_urls(to("h:1"), player("open", "?vhost=open&domain=protected&token=vhost=x"));
    EXPECT_EQ(urls.tc_url, "rtmp://h:1/live?vhost=open");
    EXPECT_EQ(urls.full, "rtmp://h:1/live/cam?token=vhost=x&vhost=open");
    auto client = player("open", "");
    client.tc_url = "rtmp://192.0.2.1/live?domain=open&xvhost=1";
    EXPECT_EQ(reconnect_url(to("h:1"), client), "rtmp://h:1/live?xvhost=1&vhost=open");
}

TEST(RedirectUrls, AReconnectKeepsTheQueryOfTcUrl) {
    auto client = player("a.example", "?name=only");
    client.tc_url = "rtmp://a.example/live?token=x";
    EXPECT_EQ(reconnect_url(to("h:1", "hop=n0"), client), "rtmp://h:1/live?token=x&vhost=a.example&hop=n0");
    client.tc_url = "rtmp://192.0.2.1/live?vhost=a.example";
    EXPECT_EQ(reconnect_url(to("h:1"), client), "rtmp://h:1/live?vhost=a.example");
    client = player("__defaultVhost__", "");
    client.tc_url = "rtmp://192.0.2.1/live";
    EXPECT_EQ(reconnect_url(to("h:1"), client), "rtmp://h:1/live");
    client.tc_url = "rtmp://192.0.2.1/live?";
    EXPECT_EQ(reconnect_url(to("h:1", "hop=n0"), client), "rtmp://h:1/live?hop=n0");
}

TEST(RedirectUrls, KeepTheQueryAndNameTheVirtualHost) {
    const auto plain = redirect_urls(to("192.0.2.1:19350"), player("__defaultVhost__", "?token=x"));
    EXPECT_EQ(plain.tc_url, "rtmp://192.0.2.1:19350/live");
    EXPECT_EQ(plain.full, "rtmp://192.0.2.1:19350/live/cam?token=x");
    EXPECT_EQ(redirect_urls(to("h:1"), player("192.0.2.1", "")).full, "rtmp://h:1/live/cam");
    const auto named = redirect_urls(to("192.0.2.1:1935"), player("a.example", "?vhost=a.example"));
    EXPECT_EQ(named.full, "rtmp://192.0.2.1:1935/live/cam?vhost=a.example");
    const auto by_host = redirect_urls(to("192.0.2.1:1935"), player("a.example", ""));
    EXPECT_EQ(by_host.tc_url, "rtmp://192.0.2.1:1935/live?vhost=a.example");
    const auto read = MUST(wire::rtmp::parse_stream_url(by_host.full));
    EXPECT_EQ(read.vhost + " " + read.app + " " + read.stream, "a.example live cam");
}

}  // namespace
}  // namespace live::session::rtmp
