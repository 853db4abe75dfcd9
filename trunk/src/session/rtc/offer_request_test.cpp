#include "session/rtc/offer_request.hpp"

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

TEST(OfferRequest, ReadsTheStreamFromTheWhipQuery) {
    const auto offered =
        offer_request_of(request_for("/rtc/v1/whip/?app=show&stream=cam&secret=x"), Purpose::publish, ShowBearer::yes).value();
    EXPECT_EQ(offered.purpose, Purpose::publish);
    EXPECT_EQ(offered.client.vhost, "media.example.com");
    EXPECT_EQ(offered.client.app, "show");
    EXPECT_EQ(offered.client.stream, "cam");
    EXPECT_EQ(offered.client.param, "app=show&stream=cam&secret=x");
    EXPECT_EQ(offered.client.protocol, "whip");
    EXPECT_EQ(offered.client.tc_url, "rtmp://media.example.com/show");
    EXPECT_EQ(offered.api_host, "media.example.com");
    EXPECT_EQ(offered.offer, "v=0");
    EXPECT_TRUE(offered.dtls);
}

TEST(OfferRequest, MissingParametersHaveDefaults) {
    const auto offered = offer_request_of(request_for("/rtc/v1/whep/"), Purpose::play, ShowBearer::yes).value();
    EXPECT_EQ(offered.purpose, Purpose::play);
    EXPECT_EQ(offered.client.app, "live");
    EXPECT_EQ(offered.client.stream, "livestream");
    EXPECT_EQ(offered.client.protocol, "whep");
    EXPECT_FALSE(offered.candidate);
}

TEST(OfferRequest, APlayerChoosesTracks) {
    const auto asked = [](const char* target, Purpose purpose) {
        return offer_request_of(request_for(target), purpose, ShowBearer::yes);
    };
    const auto both = asked("/rtc/v1/whep/?audio=1&video=255", Purpose::play).value();
    EXPECT_EQ(both.tracks, (media::TrackChoice{media::TrackId(1), media::TrackId(255)}));
    EXPECT_EQ(asked("/rtc/v1/whep/?rendition=h", Purpose::play)->rendition, "h");
    const auto one = asked("/rtc/v1/whep/?video=0", Purpose::play).value();
    EXPECT_EQ(one.tracks, (media::TrackChoice{{}, media::TrackId(0)}));
    EXPECT_TRUE(asked("/rtc/v1/whep/", Purpose::play)->tracks.is_default());
    EXPECT_TRUE(asked("/rtc/v1/whip/?audio=1", Purpose::publish)->tracks.is_default());
    for (const char* wrong : {"256", "-1", "en", "1x"})
        EXPECT_EQ(asked((std::string("/rtc/v1/whep/?audio=") + wrong).c_str(), Purpose::play).code(), Errc::malformed) << wrong;
}

TEST(OfferRequest, ActionPlayMakesAPlayerOfIt) {
    const auto offered = offer_request_of(request_for("/rtc/v1/whip/?action=play"), Purpose::publish, ShowBearer::yes).value();
    EXPECT_EQ(offered.purpose, Purpose::play);
}

TEST(OfferRequest, ReadsAllParameters) {
    const auto offered =
        offer_request_of(request_for("/rtc/v1/whip/?eip=203.0.113.1:9000&codec=hevc&encrypt=false&dtls=false&ice-ufrag=abcd"
                                     "&ice-pwd=0123456789012345678901&vhost=v.example"),
                         Purpose::publish, ShowBearer::yes)
            .value();
    EXPECT_EQ(offered.candidate, (HostAndPort{"203.0.113.1", std::uint16_t{9000}}));
    EXPECT_EQ(offered.codec, "H265");
    EXPECT_FALSE(offered.dtls);
    EXPECT_EQ(offered.ufrag, "abcd");
    EXPECT_EQ(offered.pwd, "0123456789012345678901");
    EXPECT_EQ(offered.client.vhost, "v.example");
}

TEST(OfferRequest, ABearerTokenIsShownToCallbacksAsAParameter) {
    auto request = request_for("/rtc/v1/whip/?app=live");
    request.message.headers.add("Authorization", "bearer  a/b ");
    EXPECT_EQ(offer_request_of(request, Purpose::publish, ShowBearer::yes)->client.param, "app=live&token=a%2Fb");
    EXPECT_EQ(offer_request_of(request, Purpose::publish, ShowBearer::no)->client.param, "app=live");
    request = request_for("/rtc/v1/whip/?token=mine");
    request.message.headers.add("Authorization", "Bearer other");
    EXPECT_EQ(offer_request_of(request, Purpose::publish, ShowBearer::yes)->client.param, "token=mine");
    request = request_for("/rtc/v1/whip/");
    request.message.headers.add("Authorization", "Basic dTpw");
    EXPECT_EQ(offer_request_of(request, Purpose::publish, ShowBearer::yes)->client.param, "");
}

TEST(OfferRequest, BadNamesAndParametersAreErrors) {
    const std::pair<const char*, Errc> cases[] = {{"?app=..%2Fx", Errc::denied},      {"?stream=a%7Cb", Errc::denied},
                                                  {"?stream=", Errc::denied},         {"?vhost=a/../b", Errc::denied},
                                                  {"?codec=mjpeg", Errc::malformed},  {"?eip=a%0D%0Ab", Errc::malformed},
                                                  {"?candidate=h:0", Errc::malformed}};
    for (const auto& [query, code] : cases) {
        const auto offered =
            offer_request_of(request_for(std::string("/rtc/v1/whip/") + query), Purpose::publish, ShowBearer::yes);
        ASSERT_FALSE(offered.ok()) << query;
        EXPECT_EQ(offered.code(), code) << query;
    }
}

TEST(OfferRequest, JsonApiNamesTheStreamInAUrl) {
    const auto request = request_for("/rtc/v1/publish/?eip=203.0.113.1");
    UrlOfferRequest asked{"v=0 x", "webrtc://192.0.2.1:1985/live/cam?vhost=v.example&token=abc&encrypt=false",
                          "http://api.example.com:1985/rtc/v1/publish/", "198.51.100.7"};
    auto offered = offer_request_of(request, Purpose::publish, asked).value();
    EXPECT_EQ(offered.client.vhost, "v.example");
    EXPECT_EQ(offered.client.app, "live");
    EXPECT_EQ(offered.client.stream, "cam");
    EXPECT_EQ(offered.client.param, "?vhost=v.example&token=abc&encrypt=false&upstream=rtc");
    EXPECT_EQ(offered.client.ip, "198.51.100.7");
    EXPECT_EQ(offered.client.peer_ip, "10.0.0.7");
    EXPECT_EQ(offered.api_host, "api.example.com");
    EXPECT_EQ(offered.offer, "v=0 x");
    EXPECT_EQ(offered.candidate, (HostAndPort{"203.0.113.1", std::nullopt}));
    asked = {"v=0", "webrtc://192.0.2.1/live/cam", "", ""};
    offered = offer_request_of(request_for("/rtc/v1/play/", "[2001:db8::1]:1985"), Purpose::play, asked).value();
    EXPECT_EQ(offered.client.param, "");
    EXPECT_EQ(offered.client.ip, "10.0.0.7");
    EXPECT_EQ(offered.api_host, "2001:db8::1");
    EXPECT_FALSE(offer_request_of(request, Purpose::play, UrlOfferRequest{"v=0", "no url", "", ""}).ok());
}

}  // namespace
}  // namespace live::session::rtc
