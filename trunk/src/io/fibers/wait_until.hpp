// Between the public types of the room and a park: deadlines as microseconds of the loop's clock, and the errors a wait ends
// with. Only for .cpp files of the io room.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/park.hpp"

namespace live::io::st {

// Rounded up, so that a fiber never wakes before its deadline.
inline std::uint64_t due_of(Deadline deadline) {
    if (deadline.is_never())
        return kNeverDue;
    const auto micros = std::chrono::ceil<std::chrono::microseconds>(deadline.when().time_since_epoch()).count();
    return micros < 0 ? 0 : static_cast<std::uint64_t>(micros);
}

inline Error cancelled_error() { return {Errc::cancelled, "the fiber was cancelled"}; }

}  // namespace live::io::st
