#include "base/net/ip_network.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace live {

namespace {

constexpr unsigned kIpv4Bits = 32;
constexpr unsigned kIpv6Bits = 128;
constexpr std::size_t kMappedPrefix = 12;  // bytes before the IPv4 address

// Mask for the byte in which a prefix ends after `bits` bits.
std::uint8_t mask_of(unsigned bits) { return static_cast<std::uint8_t>(bits >= 8 ? 0xFF : 0xFF << (8 - bits)); }

Error no_network(std::string_view text) {
    return {Errc::malformed, "\"" + std::string(text) + "\" is neither an address nor a network"};
}

}  // namespace

Result<IpAddress> parse_ip(std::string_view text) {
    const std::string copy(text);
    IpAddress address;
    if (copy.size() != text.size() || copy.find('\0') != std::string::npos)
        return no_network(text);
    if (::inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) == 1)
        return address;
    address.bytes[kMappedPrefix - 2] = 0xFF;
    address.bytes[kMappedPrefix - 1] = 0xFF;
    if (::inet_pton(AF_INET, copy.c_str(), address.bytes.data() + kMappedPrefix) == 1)
        return address;
    return no_network(text);
}

std::string ip_text(const IpAddress& ip) {
    char text[INET6_ADDRSTRLEN] = {};
    const auto* const bytes = ip.bytes.data();
    const bool is_ipv4 = std::all_of(bytes, bytes + kMappedPrefix - 2, [](std::uint8_t byte) { return byte == 0; }) &&
                         bytes[kMappedPrefix - 2] == 0xFF && bytes[kMappedPrefix - 1] == 0xFF;
    if (is_ipv4)
        ::inet_ntop(AF_INET, bytes + kMappedPrefix, text, sizeof text);
    else
        ::inet_ntop(AF_INET6, bytes, text, sizeof text);
    return text;
}

Result<IpNetwork> IpNetwork::parse(std::string_view text) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::string_view address = text.substr(0, slash);
    IpNetwork network;
    network.address_ = TRY(parse_ip(address));
    const unsigned bits_max = address.find(':') == std::string_view::npos ? kIpv4Bits : kIpv6Bits;
    unsigned bits = bits_max;
    if (slash < text.size()) {
        const std::string_view length = text.substr(slash + 1);
        const char* const end = length.data() + length.size();
        const auto [stop, failure] = std::from_chars(length.data(), end, bits);
        if (failure != std::errc() || stop != end || bits > bits_max)
            return no_network(text);
    }
    bits += kIpv6Bits - bits_max;
    network.prefix_bits_ = static_cast<std::uint8_t>(bits);
    for (std::uint8_t& byte : network.address_.bytes) {
        byte &= mask_of(bits);
        bits -= std::min(bits, 8U);
    }
    return network;
}

bool IpNetwork::contains(const IpAddress& address) const {
    unsigned bits = prefix_bits_;
    for (std::size_t i = 0; bits > 0; ++i) {
        if ((address.bytes[i] & mask_of(bits)) != address_.bytes[i])
            return false;
        bits -= std::min(bits, 8U);
    }
    return true;
}

}  // namespace live
