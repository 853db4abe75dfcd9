#include "io/net/network_interfaces.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace live::io {
namespace {

TEST(NetworkInterfaces, LoopbackIsAmongThem) {
    const auto found = MUST(interface_addresses());
    EXPECT_TRUE(
        std::any_of(found.begin(), found.end(), [](const auto& each) { return each.ip == "127.0.0.1" && !each.name.empty(); }));
}

TEST(NetworkInterfaces, RecognisesPrivateRangesAtTheirBounds) {
    for (const char* ip : {"10.0.0.0", "10.255.255.255", "127.0.0.1", "169.254.1.1", "172.16.0.0", "172.31.255.255",
                           "192.168.0.1", "::1", "fe80::1", "fd00::1", "fc00::1"})
        EXPECT_TRUE(is_private_address(ip)) << ip;
    for (const char* ip : {"9.255.255.255", "11.0.0.0", "128.0.0.1", "172.15.255.255", "172.32.0.0", "192.167.1.1", "192.169.1.1",
                           "8.8.8.8", "2001:db8::1", "fec0::1", "", "x"})
        EXPECT_FALSE(is_private_address(ip)) << ip;
}

TEST(NetworkInterfaces, DeviceAddressesAreThoseThatOthersCanUse) {
    const std::vector<InterfaceAddress> all{{"lo", "127.0.0.1"},    {"lo", "::1"},        {"eth0", "2001:db8::5"},
                                            {"eth0", "fe80::1"},    {"eth0", "10.0.0.5"}, {"eth1", "169.254.3.4"},
                                            {"eth1", "203.0.113.7"}};
    EXPECT_EQ(device_addresses(all), (std::vector<std::string>{"10.0.0.5", "203.0.113.7", "2001:db8::5"}));
    EXPECT_EQ(device_addresses({{"lo", "127.0.0.1"}, {"lo", "::1"}}), (std::vector<std::string>{"127.0.0.1", "::1"}));
    EXPECT_TRUE(device_addresses({}).empty());
}

}  // namespace
}  // namespace live::io
