// Protocol: the description of a protocol for the rest of the server. Each protocol describes itself beside its own code
// (session/*/protocol.hpp), and app keeps one list of them, which the API, metrics, memory counters, heartbeat and the forwarding
// of datagrams walk for each report. Counters of the hot path are plain members of the protocol; these functions read
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/text/metrics_text.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/client_kind.hpp"
#include "session/common/forwarded_datagram.hpp"
#include "session/common/self_tests.hpp"
#include "session/common/stream_urls.hpp"
#include "session/common/traffic.hpp"
#include "session/limits/refusals.hpp"

namespace live::session {

// An entry of /api/v1/memory. No bytes: they are counted elsewhere or unknown.
struct MemoryKind {
    std::string name;
    std::uint64_t objects = 0;
    std::optional<std::uint64_t> bytes;
};

// Any function may be empty. None but self_test may suspend.
struct Protocol {
    struct Kind {
        ClientKind kind;
        // The session object; its connection, fiber and stack are counted separately.
        std::optional<std::size_t> session_bytes;
    };

    std::string_view name;  // in the heartbeat
    std::vector<Kind> kinds{};
    // By its own limits, beside those of ConnectionLimits.
    std::span<const Refusals> refusals{};
    // Bytes of its clients' connections since the start.
    std::function<Traffic()> traffic{};
    std::function<void(std::vector<MemoryKind>&)> add_memory{};
    std::function<void(MetricsText&)> write_metrics{};
    // Its ports in the heartbeat, as SCHEME://IP:PORT. They follow a reload.
    std::function<std::vector<std::string>()> addresses{};
    // Adds the URLs of a stream for the stream list.
    std::function<void(const UrlRequest&, StreamUrls&)> add_urls{};
    // The datagrams that another process forwards to it.
    std::optional<ForwardedDatagram::Protocol> datagrams{};
    std::function<void(const ForwardedDatagram&, MutBytes)> take_datagram{};
    // For /api/v1/doctor/NAME: tests the ports, for a client that reaches the API under `api_host`.
    std::function<Result<SelfTestReport>(const std::string& api_host, io::Deadline deadline)> self_test{};
};

using Protocols = std::vector<Protocol>;

// The addresses of a block's `listen`. A bare port means every address.
std::vector<std::string> addresses_of(std::string_view scheme, const std::vector<std::string>& listen);

// The sum over all protocols.
Traffic traffic_of(const Protocols& protocols);
// The URLs of a stream over all protocols.
StreamUrls urls_of(const Protocols& protocols, const UrlRequest& request);
// Passes a datagram to the protocol that it is for; one of no protocol is dropped.
void take_datagram(const Protocols& protocols, const ForwardedDatagram& forwarded, MutBytes datagram);

}  // namespace live::session
