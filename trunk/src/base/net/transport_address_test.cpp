#include "base/net/transport_address.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(TransportAddress, DistinguishesIpv4FromIpv6) {
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

// Addresses behind one router, or in one network, differ in few bits.
TEST(TransportAddress, NeighboursAreSpreadOverATable) {
    constexpr std::size_t kBuckets = 4'096;
    const TransportAddress::Hash hash;
    std::vector<std::size_t> by_port(kBuckets);
    std::vector<std::size_t> by_address(kBuckets);
    for (std::size_t i = 0; i < kBuckets; ++i) {
        ++by_port[hash({parse_ip("192.0.2.1").value(), static_cast<std::uint16_t>(20'000 + i)}) % kBuckets];
        IpAddress ip = parse_ip("10.1.0.0").value();
        ip.bytes[14] = static_cast<std::uint8_t>(i >> 8);
        ip.bytes[15] = static_cast<std::uint8_t>(i);
        ++by_address[hash({ip, 4'000}) % kBuckets];
    }
    EXPECT_LE(*std::ranges::max_element(by_port), 10U);
    EXPECT_LE(*std::ranges::max_element(by_address), 10U);
}

}  // namespace
}  // namespace live
