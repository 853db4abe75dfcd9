// Before a player joins: what its wire log must hold first.
#pragma once

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "media/source.hpp"

namespace live::session {

// Completes the log in pieces, between which other fibers run: a new one begins with up to Source::kRingBytesMax. Errors: the
// deadline's and Errc::cancelled.
Result<void> catch_up(media::WireLogHold& hold, io::Deadline deadline);

}  // namespace live::session
