#include "base/transport_address.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(TransportAddress, KnowsIpv4FromIpv6) {
    EXPECT_TRUE((TransportAddress{parse_ip("192.0.2.1").value(), 1}.is_ipv4()));
    EXPECT_TRUE((TransportAddress{parse_ip("0.0.0.0").value(), 1}.is_ipv4()));
    EXPECT_FALSE((TransportAddress{parse_ip("2001:db8::1").value(), 1}.is_ipv4()));
    EXPECT_FALSE((TransportAddress{parse_ip("::1").value(), 1}.is_ipv4()));
}

TEST(TransportAddress, PortAndAddressBothCount) {
    const TransportAddress a{parse_ip("192.0.2.1").value(), 0x1234};
    const TransportAddress port{a.ip, 0x3412};
    const TransportAddress ip{parse_ip("192.0.2.2").value(), 0x1234};
    EXPECT_NE(a, port);
    EXPECT_NE(a, ip);
    const TransportAddress::Hash hash;
    EXPECT_NE(hash(a), hash(port));
    EXPECT_NE(hash(a), hash(ip));
    EXPECT_EQ(hash(a), hash({parse_ip("::ffff:192.0.2.1").value(), 0x1234}));
}

}  // namespace
}  // namespace live
