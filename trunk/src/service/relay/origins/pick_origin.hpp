// The choice of one origin from a resolver's list: by use and protocol, by health, and by which origins the caller has left.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "engine/relay/left_origins.hpp"
#include "engine/relay/origin_health.hpp"
#include "io/fibers/deadline.hpp"
#include "service/relay/origins/resolver.hpp"

namespace live::service::relay {

using engine::relay::LeftOrigins;
using engine::relay::OriginHealth;

enum class OriginUse : std::uint8_t {
    pull,
    push,  // over RTMP or SRT
};

// No origin may be tried now.
struct RetryLater {
    std::string why;  // empty when all origins are down
    Duration wait{};
};
using Candidates = std::variant<std::vector<Origin>, RetryLater>;
using Pick = std::variant<Origin, RetryLater>;

// Returns the origins that suit: not HTTP for a push; for a pull that follows its client, those with the client's protocol if
// there are any.
std::vector<Origin> usable_origins(std::vector<Origin> origins, OriginUse use, const ClusterOptions& options);

// Looks up the usable origins of a stream, at most until the deadline. `options.protocol` is that of origins without a scheme.
Candidates find_origins(Resolver& resolver, const std::string& url, OriginUse use, const ClusterOptions& options,
                        io::Deadline deadline);
// Returns the keys of the origins in OriginHealth.
std::vector<std::string> names_of(const std::vector<Origin>& origins);

// Looks up the origins for a push and chooses one. For a pull, engine::relay::Puller chooses.
Pick pick_origin(Resolver& resolver, const OriginHealth& health, const std::string& url, const ClusterOptions& options,
                 const LeftOrigins& left, io::Deadline deadline);

}  // namespace live::service::relay
