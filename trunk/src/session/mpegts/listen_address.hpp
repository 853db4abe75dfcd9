// Where a caster of transport streams receives: `[group@]ip:port[/interface]`. In front of the @ a multicast group, behind it the
// address of the sender whose packets are wanted, 0.0.0.0 or [::] for any. Without a group, the ip is one of this machine's, or
// itself a group; a port alone means all addresses.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/net/endpoint.hpp"
#include "base/result.hpp"

namespace live::session::mpegts {

struct ListenAddress {
    Endpoint endpoint;  // to bind to: that of the group, if there is one
    bool multicast = false;
    std::string source;     // the only sender that is listened to; empty: any
    std::string interface;  // by its name; empty: the system chooses
    // The IPv6 address of a bare port: the machine may have no IPv6.
    bool may_be_missing = false;

    std::string text() const;
    bool operator==(const ListenAddress&) const = default;
};

// One address, or the two of a bare port. Errc::malformed.
Result<std::vector<ListenAddress>> parse_listen_address(std::string_view text);

// The URL that a stream is published as: `output` with [port] replaced. Errc::malformed for other variables, and when it is no
// rtmp:// URL of an app and a stream.
Result<std::string> output_of(std::string_view output, std::uint16_t port);

}  // namespace live::session::mpegts
