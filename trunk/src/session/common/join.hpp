// Before a player joins: what its log must hold first.
#pragma once

#include <cstddef>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "io/loop.hpp"
#include "media/source.hpp"

namespace live::session {

// Calls `step(bytes)`, which encodes about as many bytes more of up to Source::kRingBytesMax, until it returns true. Other fibers
// run in between. Errors: the deadline's and Errc::cancelled.
template <class Step>
Result<void> catch_up(Step&& step, io::Deadline deadline) {
    while (!step(media::Source::kCatchUpBytes))
        if (io::is_turn_over())
            TRY(io::yield(deadline));
    return {};
}

inline Result<void> catch_up(media::WireLogHold& hold, io::Deadline deadline) {
    return catch_up([&hold](std::size_t bytes) { return hold.catch_up(bytes); }, deadline);
}

}  // namespace live::session
