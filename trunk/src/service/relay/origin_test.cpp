#include "service/relay/origin.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

TEST(RelayOrigin, ReadsEverySpelling) {
    EXPECT_EQ(parse_origin("192.0.2.1").value(), (Origin{"192.0.2.1", 1935, false, false}));
    EXPECT_EQ(parse_origin("origin.example:19350").value(), (Origin{"origin.example", 19350, false, false}));
    EXPECT_EQ(parse_origin("[2001:db8::1]:1936").value(), (Origin{"2001:db8::1", 1936, false, false}));
    EXPECT_EQ(parse_origin("rtmp://origin.example").value(), (Origin{"origin.example", 1935, false, false}));
    EXPECT_EQ(parse_origin("rtmps://origin.example").value(), (Origin{"origin.example", 443, true, false}));
    EXPECT_EQ(parse_origin("dns:origins.example:19350").value(), (Origin{"origins.example", 19350, false, true}));
}

TEST(RelayOrigin, RefusesEverythingElse) {
    for (const char* text : {"", ":1935", "http://h", "rtmp://", "rtmp://h/app", "h:0", "dns:", "h h"})
        EXPECT_EQ(parse_origin(text).code(), Errc::malformed) << text;
}

TEST(RelayOrigin, NamesItself) {
    EXPECT_EQ(parse_origin("[2001:db8::1]").value().text(), "rtmp://[2001:db8::1]:1935");
    EXPECT_EQ(parse_origin("rtmps://h:8443").value().text(), "rtmps://h:8443");
}

}  // namespace
}  // namespace live::service::relay
