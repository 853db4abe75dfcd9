// A park is one sleep of one fiber: it ends when a descriptor is ready, when a deadline passes, when it is kicked (by a raised
// Signal) or when the fiber is cancelled, whichever comes first. Everything in io that suspends does so through Park::sleep.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "base/signal.hpp"
#include "io/st/park_node.hpp"

struct _st_thread;

namespace live::io::st {

struct LoopState;

inline constexpr std::uint64_t kNeverDue = std::numeric_limits<std::uint64_t>::max();

// Lives on the stack of the sleeping fiber.
class Park final : public Signal::Waiter, public Sleeper {
public:
    enum class End : std::uint8_t {
        ready,  // at least one node has received bits
        kicked,
        timed_out,
        cancelled,
        system,  // epoll refused a descriptor; see errno
    };

    Park() = default;
    Park(const Park&) = delete;
    Park& operator=(const Park&) = delete;

    // Suspends the calling fiber. `due` in microseconds of the loop's clock. The nodes' descriptors are known to the engine. When
    // several events coincide, ready wins over kicked, kicked over timed_out, timed_out over cancelled: seen events are reported,
    // and a cancel is reported again by the next sleep.
    End sleep(std::span<ParkNode> nodes, std::uint64_t due);

    // Ends the sleep; no effect if it has already ended.
    void kick() {
        kicked_ = true;
        wake();
    }
    // Makes the sleeper runnable; the caller has stored the reason in a node or in the fiber.
    void wake() override;

    void on_raised() override { kick(); }

    // For listings: that a kick is expected, and what else can end the current sleep.
    void expect_kick() { expects_kick_ = true; }
    bool expects_kick() const { return expects_kick_; }
    std::span<const ParkNode> nodes() const { return nodes_; }

private:
    End outcome(std::span<const ParkNode> nodes) const;

    _st_thread* thread_ = nullptr;
    std::span<const ParkNode> nodes_;
    bool kicked_ = false;
    bool expects_kick_ = false;
};

// Appends a thread that has become runnable to the run queue; an urgent one goes ahead of those that are not.
void queue_runnable(LoopState& state, _st_thread* thread);
// Polls descriptors and timers as soon as the running fiber suspends.
void poll_next(LoopState& state);
// Lets everything runnable run, polls descriptors and timers, and returns.
void yield_turn();

}  // namespace live::io::st
