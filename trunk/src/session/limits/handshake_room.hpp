// The worker thread for handshakes: the address that a handshake counts for, and whether the queue has room. A handshake costs
// milliseconds, so the loop does none, however many wait.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fibers/off_loop.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::session {

// The address that a client's handshakes are counted for; none: trusted.
std::optional<io::Party> handshake_party(const ConnectionLimits& places, std::string_view ip);
// Errc::limit, counted and logged by its name, when as many wait for the thread as may.
Result<void> check_handshake_room(ConnectionLimits& places, std::string_view ip, TimePoint now);

}  // namespace live::session
