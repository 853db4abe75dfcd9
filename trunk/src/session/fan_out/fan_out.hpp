// FanOut: schedules the sends of cohorts. Players with a merge window are on a wheel of that period, in evenly spread slots of
// 10 ms; the wheel's fiber sleeps until the next non-empty slot, and yields inside a slot with many players. Players without a
// window receive each packet as soon as it arrives, those over TLS on the next tick: encrypting for many of them would hold the
// publisher. Another node with a window does so too if nothing has been sent to it for
// the length of the window.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "session/fan_out/cohort.hpp"

namespace live::session {

class FanOut {
public:
    static constexpr std::chrono::milliseconds kTick{10};
    static constexpr std::chrono::milliseconds kWindowMax{10'000};
    // Players served before the fiber yields to readers and publishers; also the maximum size of a wheel's cohort.
    static constexpr std::size_t kPlayersAtOnce = 128;
    static constexpr std::size_t kTlsPlayersAtOnce = 64;
    // It yields between two cohorts after this long, too.
    static constexpr std::chrono::milliseconds kTurnMax{2};
    // Players that join consecutively share a slot: the kernel state of their sockets is adjacent in memory.
    static constexpr std::size_t kNeighbours = 8;
    // Maximum number of turns of one cohort per tick; after that its members continue in their own fibers.
    static constexpr std::size_t kTurnsMax = 64;

    // The wheels' fibers belong to `scope`, which is stopped before this is destroyed.
    explicit FanOut(io::Scope& scope, io::FanSender::Use use = io::FanSender::Use::plain_sends);
    ~FanOut();
    FanOut(const FanOut&) = delete;
    FanOut& operator=(const FanOut&) = delete;

    // Starts to send data to the member's player every `window` (0: immediately; over TLS every kTick), until the member leaves
    // or is handed back. If `window` is nullopt, it and `messages_min` are taken from the source's options.
    Result<void> join(CohortMember& member, std::optional<std::chrono::milliseconds> window = std::nullopt);
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
