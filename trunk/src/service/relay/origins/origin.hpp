// Origin: one entry of `cluster { origin ...; }`, parsed. Pure; the resolver looks up names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "service/relay/options.hpp"

namespace live::service::relay {

// `worker` is another process of this server: RTMP over a socket pair. No configuration names it.
enum class Scheme : std::uint8_t { rtmp, rtmps, http, https, srt, worker };
constexpr bool is_http(Scheme scheme) { return scheme == Scheme::http || scheme == Scheme::https; }
constexpr bool is_secure(Scheme scheme) { return scheme == Scheme::rtmps || scheme == Scheme::https; }

struct Origin {
    std::string host;  // a name or an address, without brackets
    std::uint16_t port = 0;
    Scheme scheme = Scheme::rtmp;
    bool is_resolved = false;  // dns: stands for all addresses of the name
    std::string name{};        // the name that the address in `host` belongs to; empty unless it was resolved from dns:
    std::string query{};  // srt: '?' and the parameters of the call, see session/srt/call/call_url.hpp; may hold a passphrase

    // "rtmp://host:port", with the scheme: used in logs and the API, and as the key of its health record.
    std::string text() const;
    // Returns the name in its certificate and in the Host field.
    const std::string& server_name() const { return name.empty() ? host : name; }
    bool operator==(const Origin&) const = default;
};

// Returns the origin of another worker of this server. Its number is the port.
Origin worker_origin(std::uint16_t number);

std::string_view name_of(Scheme scheme);
std::uint16_t usual_port(Scheme scheme);

// host[:port], SCHEME://host[:port], srt://host[:port][?parameters], dns:name[:port]. IPv6 addresses are in brackets. Without a
// scheme, `protocol` decides it. Default ports: 1935 for rtmp, 80 for http, 443 for rtmps and https, 10080 for srt.
// Errc::malformed, without the parameters.
Result<Origin> parse_origin(std::string_view text, PullProtocol protocol = PullProtocol::rtmp);

}  // namespace live::service::relay
