// Homes: one of several workers, the home, keeps the session of an HLS or DASH player. The session's name selects the home. The
// player is admitted, counted, listed and kicked there; the other workers have guests (files::Sessions).
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/admission.hpp"

namespace live::service::files {

class Homes {
public:
    // Reports whether another worker is the home.
    virtual bool is_elsewhere(std::string_view name) const = 0;
    // Returns a session name that is the same on every worker, from the data that identifies a player.
    virtual std::string name_for(std::string_view key) const = 0;
    // Admits the player at its home. True if it was admitted before. Errc::closed when the home does not respond; otherwise
    // admission's errors.
    virtual Result<bool> open(const session::ClientRequest& request, Duration idle_limit, io::Deadline deadline) = 0;

protected:
    ~Homes() = default;
};

}  // namespace live::service::files
