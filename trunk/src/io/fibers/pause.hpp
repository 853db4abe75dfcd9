// Pauses: when the process did not run, or its loop did not look at descriptors: it was stopped, its machine was moved, or one
// fiber held it. Media of that time waits in the sockets, so a pause does not count as silence of the peers. After a pause the
// loop polls all descriptors before any timer; code that compares stored times uses silence_from().
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/pauses.hpp"

namespace live::io {

// The pauses of the process's loop; empty without a loop.
const Pauses& pauses();
// To be compared with now(), not by Deadline::expired(): the loop notes a pause when it polls next, and now() is the time before
// it.
inline TimePoint silence_from(TimePoint heard) { return pauses().silence_from(heard); }

// For fibers that check many peers for silence: the caller must wait for it first. After a pause it lets the fibers that receive
// from UDP sockets read the arrived datagrams, for at most kReadFirstMax. Errc::cancelled.
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
