#include "service/relay/origins/origin.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

TEST(RelayOrigin, ParsesEveryForm) {
    EXPECT_EQ(parse_origin("192.0.2.1").value(), (Origin{"192.0.2.1", 1935}));
    EXPECT_EQ(parse_origin("origin.example:19350").value(), (Origin{"origin.example", 19350}));
    EXPECT_EQ(parse_origin("[2001:db8::1]:1936").value(), (Origin{"2001:db8::1", 1936}));
    EXPECT_EQ(parse_origin("rtmp://origin.example").value(), (Origin{"origin.example", 1935}));
    EXPECT_EQ(parse_origin("rtmps://origin.example").value(), (Origin{"origin.example", 443, Scheme::rtmps}));
    EXPECT_EQ(parse_origin("http://origin.example").value(), (Origin{"origin.example", 80, Scheme::http}));
    EXPECT_EQ(parse_origin("https://origin.example:8443").value(), (Origin{"origin.example", 8443, Scheme::https}));
    EXPECT_EQ(parse_origin("dns:origins.example:19350").value(), (Origin{"origins.example", 19350, Scheme::rtmp, true}));
    EXPECT_EQ(parse_origin("srt://origin.example").value(), (Origin{"origin.example", 10080, Scheme::srt}));
    EXPECT_EQ(parse_origin("srt://[2001:db8::1]:9000?latency=200&streamid=[app]/[stream]", PullProtocol::flv).value(),
              (Origin{"2001:db8::1", 9000, Scheme::srt, false, "", "?latency=200&streamid=[app]/[stream]"}));
}

TEST(RelayOrigin, HasProtocolsSchemeByDefault) {
    EXPECT_EQ(parse_origin("h", PullProtocol::flv).value(), (Origin{"h", 80, Scheme::http}));
    EXPECT_EQ(parse_origin("h", PullProtocol::flvs).value(), (Origin{"h", 443, Scheme::https}));
    EXPECT_EQ(parse_origin("dns:h", PullProtocol::flv).value(), (Origin{"h", 80, Scheme::http, true}));
    EXPECT_EQ(parse_origin("rtmp://h", PullProtocol::flv).value(), (Origin{"h", 1935}));
    EXPECT_EQ(parse_origin("http://h", PullProtocol::rtmp).value(), (Origin{"h", 80, Scheme::http}));
}

TEST(RelayOrigin, RejectsMalformedText) {
    for (const char* text : {"", ":1935", "ftp://h", "rtmp://", "http://", "rtmp://h/app", "http://h/", "h:0", "dns:", "h h"})
        EXPECT_EQ(parse_origin(text).code(), Errc::malformed) << text;
    for (const char* text : {"srt://", "srt://h/x", "srt://h?latency=x", "srt://h?mode=listener", "srt://h?pbkeylen=7",
                             "srt://h:0?latency=1", "srt://h?passphrase=%zz", "rtmp://h?latency=1"})
        EXPECT_EQ(parse_origin(text).code(), Errc::malformed) << text;
    const auto shown = parse_origin("srt://h?passphrase=tooshort");
    EXPECT_EQ(shown.error().sentence(), "origin \"srt://h\": srt:// address: passphrase has 10 to 79 characters");
}

TEST(RelayOrigin, TextHasSchemeAndPort) {
    EXPECT_EQ(parse_origin("[2001:db8::1]").value().text(), "rtmp://[2001:db8::1]:1935");
    EXPECT_EQ(parse_origin("rtmps://h:8443").value().text(), "rtmps://h:8443");
    EXPECT_EQ(parse_origin("h:8080", PullProtocol::flv).value().text(), "http://h:8080");
    EXPECT_EQ(parse_origin("srt://h?passphrase=a-passphrase").value().text(), "srt://h:10080");
    EXPECT_EQ(Origin({"192.0.2.1", 443, Scheme::https, false, "h"}).server_name(), "h");
}

}  // namespace
}  // namespace live::service::relay
