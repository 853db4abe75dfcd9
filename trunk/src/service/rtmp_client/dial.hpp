// Connects to another media server, over TCP or TLS. Used by every media client of this server: forwards push with it, the relay
// pulls, over RTMP and HTTP.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/net/stream.hpp"
#include "io/tls/tls_context.hpp"

namespace live::service::rtmp_client {

// Shared by all clients of the process. Owned by app; must outlive them.
struct DialContext {
    // For rtmps; nullptr refuses rtmps targets.
    io::TlsContext* tls = nullptr;
    // Where this server listens for RTMP and RTMPS: connecting there would be a loop.
    std::function<std::vector<Endpoint>()> own_endpoints = [] { return std::vector<Endpoint>(); };
    // Read buffer of all sessions; used only between two suspensions. At least 4 KiB.
    MutBytes scratch;
    // A connection to another worker of this server, by its number. Must not suspend.
    std::function<Result<std::unique_ptr<io::Stream>>(std::uint16_t number)> worker = [](std::uint16_t) {
        return Result<std::unique_ptr<io::Stream>>(Error(Errc::unsupported, "this server has no other worker"));
    };
};

struct Target {
    std::string host;  // a name or an address, without brackets
    std::uint16_t port = 0;
    bool is_secure = false;  // TLS
    std::string name{};      // in its certificate, unless that is the host
    // The address of the redirecting server, if the operator has not configured the target: see may_send_us().
    std::string sent_by{};
};

inline constexpr std::chrono::seconds kDialLimit{5};

// Tries all addresses of the host, for at most kDialLimit. Errc::denied when the target is this server itself or one that
// `sent_by` may not send us to, which no retry can change; Errc::cancelled, also when `signal` (may be nullptr; consumed) is
// raised before there is a connection; otherwise the network's error.
Result<std::unique_ptr<io::Stream>> dial(const Target& target, const DialContext& context, io::Deadline deadline,
                                         Signal* signal = nullptr);

}  // namespace live::service::rtmp_client
