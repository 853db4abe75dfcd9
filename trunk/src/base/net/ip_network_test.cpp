#include "base/net/ip_network.hpp"

#include <string>

#include <gtest/gtest.h>

namespace live {
namespace {

struct Vector {
    const char* network;
    const char* inside;
    const char* outside;
};

const Vector kVectors[] = {
    {"10.0.0.7", "10.0.0.7", "10.0.0.8"},
    {"10.0.0.0/8", "10.255.3.4", "11.0.0.0"},
    {"10.1.2.3/8", "10.255.3.4", "9.255.255.255"},
    {"192.168.4.0/23", "192.168.5.255", "192.168.6.0"},
    {"192.168.1.128/25", "192.168.1.128", "192.168.1.127"},
    {"203.0.113.7/32", "203.0.113.7", "203.0.113.6"},
    {"0.0.0.0/0", "255.1.2.3", "2001:db8::1"},
    {"0.0.0.0/1", "127.255.255.255", "128.0.0.0"},
    {"::1", "::1", "::2"},
    {"2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"},
    {"2001:db8::8/125", "2001:db8::f", "2001:db8::10"},
    {"fe80::/10", "febf::1", "fec0::1"},
    {"::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.0"},
};

TEST(IpNetwork, ContainsOnlyItsAddresses) {
    for (const Vector& vector : kVectors) {
        const auto network = IpNetwork::parse(vector.network);
        ASSERT_TRUE(network.ok()) << vector.network << ": " << network.error().text();
        EXPECT_TRUE(network->contains(*parse_ip(vector.inside))) << vector.network << " " << vector.inside;
        EXPECT_FALSE(network->contains(*parse_ip(vector.outside))) << vector.network << " " << vector.outside;
    }
}

TEST(IpNetwork, EverythingIsInTheNetworkOfNoBits) {
    for (const char* ip : {"::1", "10.0.0.7", "ffff::"})
        EXPECT_TRUE(IpNetwork::parse("::/0")->contains(*parse_ip(ip))) << ip;
}

TEST(IpNetwork, AMappedAddressIsTheAddress) {
    EXPECT_EQ(*parse_ip("::ffff:10.0.0.7"), *parse_ip("10.0.0.7"));
    EXPECT_TRUE(IpNetwork::parse("10.0.0.0/8")->contains(*parse_ip("::ffff:10.0.0.7")));
}

TEST(IpNetwork, RefusesMalformedText) {
    for (const char* text : {"", "all", "10.0.0", "10.0.0.256", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+1",
                             "10.0.0.0/8x", "10.0.0.0/8/8", "::/129", "[::1]", ":::", "/8", "10.0.0.7:80", "localhost",
                             "10.0.0.0 /8", "fe80::1%eth0", "10.0.0.0/99999999999"})
        EXPECT_EQ(IpNetwork::parse(text).code(), Errc::malformed) << text;
    EXPECT_EQ(parse_ip(std::string_view("10.0.0.7\0x", 10)).code(), Errc::malformed);
}

// Truncated text parses as another network or fails; it never crashes.
TEST(IpNetwork, SurvivesEveryTruncation) {
    for (const Vector& vector : kVectors) {
        const std::string_view text = vector.network;
        for (std::size_t size = 0; size < text.size(); ++size) {
            const std::string_view cut = text.substr(0, size);
            const auto network = IpNetwork::parse(cut);
            const auto address = parse_ip(cut.substr(0, cut.find('/')));
            EXPECT_TRUE(!network.ok() || network->contains(*address)) << cut;
        }
    }
}

TEST(IpAddress, TextRoundTrips) {
    for (const char* text : {"10.0.0.7", "0.0.0.0", "255.255.255.255", "2001:db8::1", "::1", "::", "ff02::1"})
        EXPECT_EQ(ip_text(parse_ip(text).value()), text);
    EXPECT_EQ(ip_text(parse_ip("::ffff:10.0.0.7").value()), "10.0.0.7");
}

}  // namespace
}  // namespace live
