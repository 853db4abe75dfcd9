// Pauses: when the process did not run, or its loop did not look at descriptors: it was stopped, its machine was moved, or one
// fiber held it. What peers sent meanwhile waits in the sockets, so this time is no silence of theirs. After a pause the loop
// looks at all descriptors before any timer; what is judged by stored times asks silence_from().
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/deadline.hpp"
#include "io/pauses.hpp"

namespace live::io {

// Of the process's loop; nothing without one.
const Pauses& pauses();
inline TimePoint silence_from(TimePoint heard) { return pauses().silence_from(heard); }

// For fibers that judge many peers by the time: to be awaited before they do. After a pause it lets the fibers that receive from
// UDP sockets read what has come, for at most kReadFirstMax. Errc::cancelled.
class ReadFirst {
public:
    static constexpr std::chrono::seconds kReadFirstMax{1};

    // Suspends only after a pause. `are_dry`: whether UdpSocket::is_read_dry() holds for all of them.
    template <class AreDry>
    Result<void> wait(AreDry are_dry, Deadline deadline) {
        if (seen_ == pauses().count()) [[likely]]
            return {};
        seen_ = pauses().count();
        const Deadline limit = deadline.sooner(Deadline::after(kReadFirstMax));
        while (!limit.expired() && !are_dry())
            TRY(pause_shortly());
        return {};
    }

private:
    static Result<void> pause_shortly();

    std::uint64_t seen_ = pauses().count();
};

}  // namespace live::io
