#include "base/net/host_and_port.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(HostAndPort, ReadsAddressesAndNames) {
    EXPECT_EQ(parse_host("203.0.113.1").value(), (HostAndPort{"203.0.113.1", std::nullopt}));
    EXPECT_EQ(parse_host("2001:db8::1").value(), (HostAndPort{"2001:db8::1", std::nullopt}));
    EXPECT_EQ(parse_host("[2001:db8::1]:9000").value(), (HostAndPort{"2001:db8::1", std::uint16_t{9'000}}));
    EXPECT_EQ(parse_host("h.example:65535").value(), (HostAndPort{"h.example", std::uint16_t{65'535}}));
}

TEST(HostAndPort, RefusesEverythingElse) {
    for (const char* text :
         {"", "a b", "a\r\nb", "host:0", "host:65536", "host:", "host:1x", "[::1", "[::1]9", "[host]:1", "a_b", "::1:"})
        EXPECT_FALSE(parse_host(text).ok()) << text;
    EXPECT_FALSE(parse_host(std::string(254, 'a')).ok());
    EXPECT_TRUE(parse_host(std::string(253, 'a')).ok());
}

}  // namespace
}  // namespace live
