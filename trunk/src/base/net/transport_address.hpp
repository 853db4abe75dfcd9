// An IP address and port as numbers: the source or destination of a datagram. For the text of a setting, see
// base/net/endpoint.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/net/ip_network.hpp"

namespace live {

struct TransportAddress {
    IpAddress ip;
    std::uint16_t port = 0;

    bool operator==(const TransportAddress&) const = default;

    // IPv4 is stored as IPv4-mapped IPv6: ten zero bytes, two 0xFF bytes, and the address.
    bool is_ipv4() const {
        for (std::size_t i = 0; i < 10; ++i)
            if (ip.bytes[i] != 0)
                return false;
        return ip.bytes[10] == 0xFF && ip.bytes[11] == 0xFF;
    }

    // For hash tables, which their owners bound. Hashes by words, because there is a lookup for each outgoing GSO batch.
    struct Hash {
        std::size_t operator()(const TransportAddress& address) const {
            constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
            std::array<std::uint64_t, 2> words;
            static_assert(sizeof words == sizeof address.ip.bytes);
            std::memcpy(words.data(), address.ip.bytes.data(), sizeof words);
            // The multiplication spreads a bit to higher bits, the shift to lower ones.
            std::uint64_t value = (words[0] * kOdd) ^ words[1] ^ address.port;
            value = (value ^ value >> 32) * kOdd;
            value = (value ^ value >> 29) * kOdd;
            return static_cast<std::size_t>(value ^ value >> 32);
        }
    };
};

}  // namespace live
