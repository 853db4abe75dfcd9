// Names to addresses, without blocking the loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/threads/worker_pool.hpp"

namespace live::io {

inline constexpr std::size_t kAddressesMax = 16;

// The addresses of a host for TCP, in the order to try them; a literal address is returned at once. Never empty; at most
// kAddressesMax. Errc::not_found, Errc::timed_out, Errc::cancelled, Errc::limit, Errc::system.
//
// `whose` is Work::stranger for a name that does not come from the operator.
Result<std::vector<Endpoint>> resolve(const std::string& host, std::uint16_t port, Deadline deadline, Work whose = Work::remote);

}  // namespace live::io
