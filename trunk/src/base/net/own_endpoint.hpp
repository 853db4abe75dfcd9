// Whether an address is this server itself: connecting to it would be a loop.
#pragma once

#include <span>
#include <string_view>

#include "base/net/endpoint.hpp"

namespace live {

// Whether `to` is one of our own listeners, as far as can be determined without connecting. A listener on every address
// ("0.0.0.0", "::") can be reached by any loopback address and by `local_ip`, the source address of a connection to `to` (empty
// when unknown).
bool is_own_endpoint(const Endpoint& to, std::span<const Endpoint> own, std::string_view local_ip);

}  // namespace live
