// FanOut: when cohorts are sent to. Players with a merge window sit on a wheel of that period, in slots of 10 ms, spread evenly;
// the wheel's fiber sleeps to the next slot that has somebody, and gives way inside a slot that has many. Players without one are
// sent to as soon as a packet is there.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/deadline.hpp"
#include "io/scope.hpp"
#include "session/common/cohort.hpp"

namespace live::session {

class FanOut {
public:
    static constexpr std::chrono::milliseconds kTick{10};
    static constexpr std::chrono::milliseconds kWindowMax{10'000};
    // Players that are sent to before readers and publishers come between; a cohort of a wheel has no more.
    static constexpr std::size_t kPlayersAtOnce = 128;
    // Players who come one after another share a slot: the kernel keeps what it knows of their sockets side by side.
    static constexpr std::size_t kNeighbours = 8;

    // The wheels' fibers belong to `scope`, which is stopped before this is destroyed.
    explicit FanOut(io::Scope& scope, io::FanSender::Use use = io::FanSender::Use::plain_sends);
    ~FanOut();
    FanOut(const FanOut&) = delete;
    FanOut& operator=(const FanOut&) = delete;

    // From now on the member's player is sent to every `window` (0: at once), until it leaves or is handed back. The window and
    // `messages_min` are those of the source's options.
    Result<void> join(CohortMember& member);
    void leave(CohortMember& member);

    const FanOutCounters& counters() const { return tools_.counters; }
    SendMeter& meter() { return tools_.counters.meter; }
    bool uses_io_uring() const { return tools_.sender.uses_io_uring(); }

private:
    class Wheel;
    class Instant;
    using Instants = std::unordered_multimap<media::Source*, std::unique_ptr<Instant>>;

    Instants::iterator find_instant(const CohortMember& member);

    io::Scope& scope_;
    CohortTools tools_;
    std::map<std::chrono::milliseconds, std::unique_ptr<Wheel>> wheels_;
    Instants instants_;
};

}  // namespace live::session
