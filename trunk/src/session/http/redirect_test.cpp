#include "session/http/redirect.hpp"

#include <gtest/gtest.h>

namespace live::session::http {
namespace {

std::string location_of(const Reply& reply) {
    for (const auto& [name, value] : reply.headers)
        if (name == "Location")
            return value;
    return {};
}

Request asked(std::string method, std::string target) {
    Request request;
    request.target = MUST(wire::http::parse_target(target));
    request.message.method = std::move(method);
    request.message.target = std::move(target);
    return request;
}

TEST(Redirect, KeepsPathAndQuery) {
    const auto reply = redirect_reply(asked("GET", "/live/a%20b.flv?token=x%20y"), "192.0.2.1:8080", "__defaultVhost__");
    EXPECT_EQ(reply.status, 302);
    EXPECT_EQ(location_of(reply), "http://192.0.2.1:8080/live/a%20b.flv?token=x%20y");
}

TEST(Redirect, NamesAVirtualHostThatCameFromHost) {
    EXPECT_EQ(location_of(redirect_reply(asked("GET", "/live/cam.flv"), "h:1", "a.example")),
              "http://h:1/live/cam.flv?vhost=a.example");
    EXPECT_EQ(location_of(redirect_reply(asked("GET", "/live/cam.flv?vhost=a.example"), "h:1", "a.example")),
              "http://h:1/live/cam.flv?vhost=a.example");
}

TEST(Redirect, NamesOneVirtualHost) {
    EXPECT_EQ(location_of(redirect_reply(asked("GET", "/live/cam.flv?vhost=&x?domain=other&token=x"), "h:1", "a.example")),
              "http://h:1/live/cam.flv?x&token=x&vhost=a.example");
}

TEST(Redirect, TakesAnAddressForNoVirtualHost) {
    EXPECT_EQ(location_of(redirect_reply(asked("GET", "/live/cam.flv"), "h:1", "192.0.2.1")), "http://h:1/live/cam.flv");
}

TEST(Redirect, AddsTheMark) {
    EXPECT_EQ(location_of(redirect_reply(asked("GET", "/live/cam.flv"), "h:1", "192.0.2.1", "hop=n0")),
              "http://h:1/live/cam.flv?hop=n0");
    EXPECT_EQ(location_of(redirect_reply(asked("GET", "/live/cam.flv?token=x"), "h:1", "a.example", "hop=n0")),
              "http://h:1/live/cam.flv?token=x&vhost=a.example&hop=n0");
}

TEST(Redirect, LetsAPostBeAPost) {
    EXPECT_EQ(redirect_reply(asked("POST", "/rtc/v1/whep/?app=live&stream=cam"), "h:1985", "__defaultVhost__").status, 307);
}

}  // namespace
}  // namespace live::session::http
