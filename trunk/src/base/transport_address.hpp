// An IP address and a port as numbers: where a datagram came from or goes to. Not the text of a setting; that is
// base/endpoint.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ip_network.hpp"

namespace live {

struct TransportAddress {
    IpAddress ip;
    std::uint16_t port = 0;

    bool operator==(const TransportAddress&) const = default;

    // IPv4 is kept as IPv4-mapped IPv6: ten bytes of zero, two of ones, and the address.
    bool is_ipv4() const {
        for (std::size_t i = 0; i < 10; ++i)
            if (ip.bytes[i] != 0)
                return false;
        return ip.bytes[10] == 0xFF && ip.bytes[11] == 0xFF;
    }

    // For hash tables. The table's owner bounds it; FNV-1a is enough then.
    struct Hash {
        std::size_t operator()(const TransportAddress& address) const {
            std::uint64_t value = 14'695'981'039'346'656'037ULL;
            for (const std::uint8_t byte : address.ip.bytes)
                value = (value ^ byte) * 1'099'511'628'211ULL;
            value = (value ^ (address.port >> 8)) * 1'099'511'628'211ULL;
            value = (value ^ (address.port & 0xFFU)) * 1'099'511'628'211ULL;
            return static_cast<std::size_t>(value);
        }
    };
};

}  // namespace live
