#include "app/wiring/listening.hpp"

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"

namespace live::app {
namespace {

TEST(Listening, BarePortToleratesMissingIpv6Only) {
    const auto wanted = MUST(wanted_endpoints({"1935", "127.0.0.1:80", "[::1]:81"}));
    ASSERT_EQ(wanted.size(), 4U);
    EXPECT_EQ(wanted[0].endpoint.text(), "0.0.0.0:1935");
    EXPECT_FALSE(wanted[0].may_be_missing);
    EXPECT_EQ(wanted[1].endpoint.text(), "[::]:1935");
    EXPECT_TRUE(wanted[1].may_be_missing);
    EXPECT_FALSE(wanted[2].may_be_missing);
    EXPECT_FALSE(wanted[3].may_be_missing) << "it was asked for by name";
    EXPECT_EQ(wanted_endpoints({"1935", "x"}).code(), Errc::malformed);
}

TEST(Listening, SkipsMissingAddressesButNotTakenPorts) {
    const auto loop = *io::Loop::create();
    const Log log;
    // An address reserved for documentation (RFC 5737), which no machine has.
    const Endpoint nowhere{"192.0.2.1", 0};
    EXPECT_EQ(MUST(listen_at({nowhere, true}, "RTMP", log)), nullptr);
    const auto required = listen_at({nowhere, false}, "RTMP", log);
    ASSERT_FALSE(required.ok());
    EXPECT_TRUE(required.error().sentence().starts_with("listening for RTMP: listening on 192.0.2.1:0: "))
        << required.error().sentence();
    const auto listener = MUST(listen_at({{"127.0.0.1", 0}, false}, "RTMP", log));
    ASSERT_NE(listener, nullptr);
    EXPECT_EQ(listen_at({listener->endpoint(), true}, "RTMP", log).code(), Errc::conflict);
}

}  // namespace
}  // namespace live::app
