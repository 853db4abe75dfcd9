// IP addresses and networks as numbers, to tell whether one holds the other. Text in, answers out; nothing is resolved.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace live {

// IPv4 is kept as IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), so that "::ffff:10.0.0.7" and "10.0.0.7" are one address.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};

    bool operator==(const IpAddress&) const = default;
};

// "10.0.0.7" or "2001:db8::1", without brackets, port or zone. Errc::malformed.
Result<IpAddress> parse_ip(std::string_view text);

class IpNetwork {
public:
    // An address alone, or one with the length of its prefix: "10.0.0.0/8", "2001:db8::/32" (RFC 4632, 3.1). Bits behind the
    // prefix may be set and do not count. Errc::malformed.
    static Result<IpNetwork> parse(std::string_view text);

    bool contains(const IpAddress& address) const;
    bool operator==(const IpNetwork&) const = default;

private:
    IpAddress address_;  // bits behind the prefix are zero
    std::uint8_t prefix_bits_ = 0;
};

}  // namespace live
