#include "io/net/network_interfaces.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace live::io {

namespace {

std::string text_of(const sockaddr* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* raw = nullptr;
    if (address->sa_family == AF_INET)
        raw = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    else if (address->sa_family == AF_INET6)
        raw = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (raw == nullptr || ::inet_ntop(address->sa_family, raw, text.data(), text.size()) == nullptr)
        return {};
    return text.data();
}

bool is_private_ipv4(std::uint32_t address) {
    struct Range {
        std::uint32_t first;
        int bits;
    };
    constexpr std::array kRanges = {
        Range{0x0A00'0000, 8},   // 10/8
        Range{0x7F00'0000, 8},   // 127/8
        Range{0xA9FE'0000, 16},  // 169.254/16
        Range{0xAC10'0000, 12},  // 172.16/12
        Range{0xC0A8'0000, 16},  // 192.168/16
    };
    for (const Range& range : kRanges)
        if ((address ^ range.first) >> (32 - range.bits) == 0)
            return true;
    return false;
}

}  // namespace

Result<std::vector<InterfaceAddress>> interface_addresses() {
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0)
        return system_error("reading the network interfaces", errno);
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, ::freeifaddrs);
    std::vector<InterfaceAddress> found;
    for (const ifaddrs* each = first; each != nullptr && found.size() < kInterfaceAddressesMax; each = each->ifa_next) {
        if (each->ifa_addr == nullptr)
            continue;
        std::string ip = text_of(each->ifa_addr);
        if (!ip.empty())
            found.push_back({each->ifa_name, std::move(ip)});
    }
    return found;
}

std::vector<std::string> device_addresses(const std::vector<InterfaceAddress>& all) {
    constexpr int kIpv4 = 0;
    constexpr int kIpv6 = 1;
    constexpr int kLoopback = 2;
    constexpr int kNone = 3;
    const auto rank_of = [](const std::string& ip) {
        in6_addr ipv6{};
        if (::inet_pton(AF_INET6, ip.c_str(), &ipv6) == 1) {
            if (IN6_IS_ADDR_LOOPBACK(&ipv6))
                return kLoopback;
            return IN6_IS_ADDR_LINKLOCAL(&ipv6) ? kNone : kIpv6;
        }
        return ip.starts_with("127.") ? kLoopback : ip.starts_with("169.254.") ? kNone : kIpv4;
    };
    std::vector<std::string> found;
    for (const int rank : {kIpv4, kIpv6, kLoopback}) {
        if (rank == kLoopback && !found.empty())
            break;
        for (const InterfaceAddress& each : all)
            if (rank_of(each.ip) == rank)
                found.push_back(each.ip);
    }
    return found;
}

bool is_private_address(std::string_view ip) {
    const std::string text(ip);
    in_addr ipv4{};
    if (::inet_pton(AF_INET, text.c_str(), &ipv4) == 1)
        return is_private_ipv4(ntohl(ipv4.s_addr));
    in6_addr ipv6{};
    if (::inet_pton(AF_INET6, text.c_str(), &ipv6) != 1)
        return false;
    const bool is_unique_local = (ipv6.s6_addr[0] & 0xFE) == 0xFC;
    const bool is_link_local = ipv6.s6_addr[0] == 0xFE && (ipv6.s6_addr[1] & 0xC0) == 0x80;
    return is_unique_local || is_link_local || IN6_IS_ADDR_LOOPBACK(&ipv6);
}

}  // namespace live::io
