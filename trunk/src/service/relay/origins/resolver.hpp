// Resolver: locates a stream that this node does not have. A static list of origins, DNS, a registry and sibling processes are
// implementations; the relay does not depend on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/net/endpoint.hpp"
#include "io/fibers/deadline.hpp"
#include "service/relay/options.hpp"
#include "service/relay/origins/origin.hpp"

namespace live::service::relay {

// Any of these origins may have the stream. Not empty.
struct Located {
    std::vector<Origin> origins;
    // Counts ownership changes of the stream; 0: not counted.
    std::uint64_t epoch = 0;
};
// No origin has the stream.
struct Nowhere {
    std::string why;
};
// The location cannot be looked up now.
struct Unknown {
    std::string why;
    std::chrono::milliseconds retry_after{};
};
using Location = std::variant<Located, Nowhere, Unknown>;

class Resolver {
public:
    virtual ~Resolver() = default;

    // `url` is the source's. Waits at most until the deadline.
    virtual Location find(const std::string& url, const ClusterOptions& options, io::Deadline deadline) = 0;
    // Reports whether the operator has listed this address as a server with streams: in the settings, by a service, in the
    // registry. Must not suspend.
    virtual bool knows(std::string_view /*host*/, std::uint16_t /*port*/, const ClusterOptions& /*options*/) const {
        return false;
    }
    // This node has started or stopped publishing the stream. Must not suspend.
    virtual void announce(const std::string& /*url*/, std::uint64_t /*epoch*/) {}
    virtual void withdraw(const std::string& /*url*/) {}
};

// The origins in the settings. A dns: name stands for all its addresses, which are looked up again after kNameAge.
class StaticResolver final : public Resolver {
public:
    static constexpr std::chrono::seconds kNameAge{5};
    static constexpr std::chrono::milliseconds kRetry{1'000};

    Location find(const std::string& url, const ClusterOptions& options, io::Deadline deadline) override;
    bool knows(std::string_view host, std::uint16_t port, const ClusterOptions& options) const override;

private:
    struct Name {
        std::string host;
        std::uint16_t port = 0;
        std::vector<Endpoint> addresses;
        TimePoint resolved{};
    };
    // Falls back to the last known addresses when the name cannot be resolved now.
    Result<std::vector<Endpoint>> resolve(const Origin& name, io::Deadline deadline);

    std::vector<Name> names_;  // few: at most one per configured origin
};

}  // namespace live::service::relay
