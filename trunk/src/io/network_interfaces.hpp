// This machine's network interfaces and their addresses, as they are now.
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

// One entry for each address; at most kInterfaceAddressesMax. A few system calls, no suspension. Errc::system.
inline constexpr std::size_t kInterfaceAddressesMax = 1024;
Result<std::vector<InterfaceAddress>> interface_addresses();

// What this machine may be called by others, in the order of stats.network: IPv4, then IPv6, without loopback and link-local
// addresses; the loopback ones when there is nothing else.
std::vector<std::string> device_addresses(const std::vector<InterfaceAddress>& all);

// Loopback, link-local and the ranges that the internet does not route (RFC 1918, RFC 4193, RFC 3927). False for text that is no
// address.
bool is_private_address(std::string_view ip);

}  // namespace live::io
