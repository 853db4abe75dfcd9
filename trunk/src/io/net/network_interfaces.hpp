// The network interfaces of this machine and their current addresses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::io {

struct InterfaceAddress {
    std::string name;  // "eth0"
    std::string ip;    // IPv4 or IPv6, without a zone
};

// One entry per address; at most kInterfaceAddressesMax. A few system calls, no suspension. Errc::system.
inline constexpr std::size_t kInterfaceAddressesMax = 1024;
Result<std::vector<InterfaceAddress>> interface_addresses();

// Addresses under which others can reach this machine, in the order of stats.network: IPv4, then IPv6, without loopback and
// link-local addresses; the loopback ones when there is nothing else.
std::vector<std::string> device_addresses(const std::vector<InterfaceAddress>& all);

// Loopback, link-local and ranges not routed on the internet (RFC 1918, RFC 4193, RFC 3927). False for text that is not an
// address.
bool is_private_address(std::string_view ip);

}  // namespace live::io
