#include "session/common/stream_urls.hpp"

#include <gtest/gtest.h>

namespace live::session {
namespace {

TEST(UrlRequest, SkipsLoopbackPortsForRemoteClients) {
    UrlRequest request;
    EXPECT_EQ(request.port_for({"127.0.0.1:1936", "not an endpoint", "1937"}), 1937);
    EXPECT_EQ(request.port_for({"127.0.0.1:1936"}), std::nullopt);
    EXPECT_EQ(request.port_for({}), std::nullopt);
    request.is_local = true;
    EXPECT_EQ(request.port_for({"127.0.0.1:1936", "1937"}), 1936);
}

TEST(UrlRequest, MakesOriginsFromTheHost) {
    UrlRequest request;
    request.host = "[fd00::1]";
    EXPECT_EQ(request.http_origin(), "http://[fd00::1]");
    request.port = ":8080";
    request.is_secure = true;
    EXPECT_EQ(request.http_origin(), "https://[fd00::1]:8080");
    EXPECT_EQ(request.websocket_origin(), "wss://[fd00::1]:8080");
}

}  // namespace
}  // namespace live::session
