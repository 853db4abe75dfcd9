// IP addresses and networks as numbers, to test whether a network contains an address. Parses text; resolves nothing.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live {

// IPv4 is stored as IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), so that "::ffff:10.0.0.7" and "10.0.0.7" compare equal.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};

    bool operator==(const IpAddress&) const = default;
};

// "10.0.0.7" or "2001:db8::1", without brackets, port or zone. Errc::malformed.
Result<IpAddress> parse_ip(std::string_view text);
// The opposite; IPv4 in its own form.
std::string ip_text(const IpAddress& ip);

class IpNetwork {
public:
    // A single address, or one with a prefix length: "10.0.0.0/8", "2001:db8::/32" (RFC 4632, 3.1). Bits after the prefix may be
    // set and are ignored. Errc::malformed.
    static Result<IpNetwork> parse(std::string_view text);

    bool contains(const IpAddress& address) const;
    bool operator==(const IpNetwork&) const = default;

private:
    IpAddress address_;  // bits after the prefix are zero
    std::uint8_t prefix_bits_ = 0;
};

}  // namespace live
