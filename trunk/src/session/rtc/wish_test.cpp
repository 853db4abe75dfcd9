#include "session/rtc/wish.hpp"

#include <gtest/gtest.h>

namespace live::session::rtc {
namespace {

using wire::sdp::Purpose;

http::Request request_for(const std::string& target, const std::string& host = "media.example.com:1985") {
    http::Request request;
    request.message.method = "POST";
    request.message.target = target;
    request.message.body = "v=0";
    request.message.headers.add("Host", host);
    request.target = wire::http::parse_target(target).value();
    request.peer = "10.0.0.7:4242";
    request.peer_ip = "10.0.0.7";
    return request;
}

TEST(Wish, WhipSaysTheStreamInItsQuery) {
    const auto wish =
        wish_of(request_for("/rtc/v1/whip/?app=show&stream=cam&secret=x"), Purpose::publish, ShowBearer::yes).value();
    EXPECT_EQ(wish.purpose, Purpose::publish);
    EXPECT_EQ(wish.client.vhost, "media.example.com");
    EXPECT_EQ(wish.client.app, "show");
    EXPECT_EQ(wish.client.stream, "cam");
    EXPECT_EQ(wish.client.param, "app=show&stream=cam&secret=x");
    EXPECT_EQ(wish.client.protocol, "whip");
    EXPECT_EQ(wish.client.tc_url, "rtmp://media.example.com/show");
    EXPECT_EQ(wish.api_host, "media.example.com");
    EXPECT_EQ(wish.offer, "v=0");
    EXPECT_TRUE(wish.dtls);
}

TEST(Wish, WhatIsNotSaidHasDefaults) {
    const auto wish = wish_of(request_for("/rtc/v1/whep/"), Purpose::play, ShowBearer::yes).value();
    EXPECT_EQ(wish.purpose, Purpose::play);
    EXPECT_EQ(wish.client.app, "live");
    EXPECT_EQ(wish.client.stream, "livestream");
    EXPECT_EQ(wish.client.protocol, "whep");
    EXPECT_FALSE(wish.candidate);
}

TEST(Wish, ActionPlayMakesAPlayerOfIt) {
    const auto wish = wish_of(request_for("/rtc/v1/whip/?action=play"), Purpose::publish, ShowBearer::yes).value();
    EXPECT_EQ(wish.purpose, Purpose::play);
}

TEST(Wish, ReadsAllParameters) {
    const auto wish = wish_of(request_for("/rtc/v1/whip/?eip=203.0.113.1:9000&codec=hevc&encrypt=false&dtls=false&ice-ufrag=abcd"
                                          "&ice-pwd=0123456789012345678901&vhost=v.example"),
                              Purpose::publish, ShowBearer::yes)
                          .value();
    EXPECT_EQ(wish.candidate, (HostAndPort{"203.0.113.1", std::uint16_t{9000}}));
    EXPECT_EQ(wish.codec, "H265");
    EXPECT_FALSE(wish.dtls);
    EXPECT_EQ(wish.ufrag, "abcd");
    EXPECT_EQ(wish.pwd, "0123456789012345678901");
    EXPECT_EQ(wish.client.vhost, "v.example");
}

TEST(Wish, ABearerTokenIsShownToCallbacksAsAParameter) {
    auto request = request_for("/rtc/v1/whip/?app=live");
    request.message.headers.add("Authorization", "bearer  a/b ");
    EXPECT_EQ(wish_of(request, Purpose::publish, ShowBearer::yes)->client.param, "app=live&token=a%2Fb");
    EXPECT_EQ(wish_of(request, Purpose::publish, ShowBearer::no)->client.param, "app=live");
    request = request_for("/rtc/v1/whip/?token=mine");
    request.message.headers.add("Authorization", "Bearer other");
    EXPECT_EQ(wish_of(request, Purpose::publish, ShowBearer::yes)->client.param, "token=mine");
    request = request_for("/rtc/v1/whip/");
    request.message.headers.add("Authorization", "Basic dTpw");
    EXPECT_EQ(wish_of(request, Purpose::publish, ShowBearer::yes)->client.param, "");
}

TEST(Wish, BadNamesAndParametersAreErrors) {
    const std::pair<const char*, Errc> cases[] = {{"?app=..%2Fx", Errc::denied},      {"?stream=a%20b", Errc::denied},
                                                  {"?stream=", Errc::denied},         {"?vhost=a/../b", Errc::denied},
                                                  {"?codec=mjpeg", Errc::malformed},  {"?eip=a%0D%0Ab", Errc::malformed},
                                                  {"?candidate=h:0", Errc::malformed}};
    for (const auto& [query, code] : cases) {
        const auto wish = wish_of(request_for(std::string("/rtc/v1/whip/") + query), Purpose::publish, ShowBearer::yes);
        ASSERT_FALSE(wish.ok()) << query;
        EXPECT_EQ(wish.code(), code) << query;
    }
}

TEST(Wish, TheJsonApiSaysTheStreamInAUrl) {
    const auto request = request_for("/rtc/v1/publish/?eip=203.0.113.1");
    UrlWish asked{"v=0 x", "webrtc://192.0.2.1:1985/live/cam?vhost=v.example&token=abc&encrypt=false",
                  "http://api.example.com:1985/rtc/v1/publish/", "198.51.100.7"};
    auto wish = wish_of(request, Purpose::publish, asked).value();
    EXPECT_EQ(wish.client.vhost, "v.example");
    EXPECT_EQ(wish.client.app, "live");
    EXPECT_EQ(wish.client.stream, "cam");
    EXPECT_EQ(wish.client.param, "?vhost=v.example&token=abc&encrypt=false&upstream=rtc");
    EXPECT_EQ(wish.client.ip, "198.51.100.7");
    EXPECT_EQ(wish.client.peer_ip, "10.0.0.7");
    EXPECT_EQ(wish.api_host, "api.example.com");
    EXPECT_EQ(wish.offer, "v=0 x");
    EXPECT_EQ(wish.candidate, (HostAndPort{"203.0.113.1", std::nullopt}));
    asked = {"v=0", "webrtc://192.0.2.1/live/cam", "", ""};
    wish = wish_of(request_for("/rtc/v1/play/", "[2001:db8::1]:1985"), Purpose::play, asked).value();
    EXPECT_EQ(wish.client.param, "");
    EXPECT_EQ(wish.client.ip, "10.0.0.7");
    EXPECT_EQ(wish.api_host, "2001:db8::1");
    EXPECT_FALSE(wish_of(request, Purpose::play, UrlWish{"v=0", "no url", "", ""}).ok());
}

}  // namespace
}  // namespace live::session::rtc
