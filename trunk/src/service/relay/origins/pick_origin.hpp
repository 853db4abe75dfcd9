// The choice of one origin among those that a resolver names: by use and protocol, health, and what the caller has just left.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "service/relay/origins/origin_book.hpp"
#include "service/relay/origins/resolver.hpp"

namespace live::service::relay {

enum class OriginUse : std::uint8_t {
    pull,
    push,  // always over RTMP
};

struct Picked {
    Origin origin;
    bool has_others = false;
};
// None may be tried now.
struct NotNow {
    std::string why;  // empty when the origins are merely down
    Duration wait{};
};
using Pick = std::variant<Picked, NotNow>;

// Whether an origin suits: RTMP for a push; for a pull that follows its client, the client's protocol if any origin has it.
std::vector<Origin> usable_origins(std::vector<Origin> origins, OriginUse use, const ClusterOptions& options);

// `options.protocol` is that of origins without a scheme. Waits for the resolver, at most until the deadline.
Pick pick_origin(Resolver& resolver, const OriginBook& book, const std::string& url, OriginUse use, const ClusterOptions& options,
                 const LeftOrigins& left, io::Deadline deadline);

}  // namespace live::service::relay
