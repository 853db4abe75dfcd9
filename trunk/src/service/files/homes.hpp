// Homes: of several workers, one keeps the session of a player of HLS or DASH, whichever of them it asks: its home, which follows
// from the session's name. There the player is admitted, counted, listed and kicked; the others have guests (files::Sessions).
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
    // Another worker is the home.
    virtual bool is_elsewhere(std::string_view name) const = 0;
    // A name that is the same on every worker, for what identifies a player.
    virtual std::string name_for(std::string_view key) const = 0;
    // Has the player admitted there, unless it is already: then true. Errc::closed when the home does not answer; otherwise
    // admission's errors.
    virtual Result<bool> open(const session::ClientRequest& request, Duration idle_limit, io::Deadline deadline) = 0;

protected:
    ~Homes() = default;
};

}  // namespace live::service::files
