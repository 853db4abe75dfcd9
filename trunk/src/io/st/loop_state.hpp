// Everything one loop owns, reachable through one object. The core is C with its own globals and calls back without a context, so
// one pointer to this object exists per process (callbacks.cpp). Only for .cpp files of the io room.
#pragma once

#include <cstdint>
#include <memory>

#include "io/fiber.hpp"
#include "io/st/core.hpp"
#include "io/st/engine.hpp"
#include "io/st/fiber_stack.hpp"
#include "io/st/stack_pool.hpp"
#include "io/st/timer_heap.hpp"
#include "io/worker_pool.hpp"

namespace live::io::st {

struct LoopState {
    // Fibers that keep each other runnable must not starve descriptors and timers: after so many switches a poll is queued behind
    // what is runnable.
    static constexpr std::uint32_t kSwitchesPerPollMax = 256;
    // Neither must a fiber whose socket always has more: after so many operations without a switch it yields.
    static constexpr std::uint32_t kOperationsPerRunMax = 64;

    Engine engine;
    TimerHeap timers;
    StackPool stacks;
    FiberStack primordial_stack;
    Fiber primordial{"main"};
    std::unique_ptr<WorkerPool> workers;  // from the first off_loop on
    Fiber* fibers = nullptr;  // all but the primordial one
    std::size_t fiber_count = 0;
    std::size_t fibers_max = 0;
    std::size_t stack_bytes = 0;
    std::uint64_t next_fiber_id = 1;
    std::uint64_t switches = 0;
    _st_thread* running = nullptr;      // who the switch hooks saw last
    std::uint32_t switches_since_poll = 0;
    std::uint32_t operations_since_switch = 0;
    std::uint32_t no_suspend = 0;       // living NoSuspend guards
    bool idle_queued = false;
    bool in_use = false;                // a Loop exists

    // The fiber that runs now; nullptr only inside the idle thread.
    Fiber* current() const { return static_cast<Fiber*>(_st_this_thread->arg); }
};

// The loop of this process; aborts before the first Loop::create.
LoopState& loop_state();
// nullptr before the first Loop::create.
LoopState* loop_state_or_null();
// Creates the state and starts the core, once per process. -1 with errno.
int start_core();

// Lets others run when this fiber has done many operations without a switch. To be called by whatever may suspend but need not.
Result<void> breathe();
// What a sleep reports first: a fiber that was cancelled does not sleep.
bool take_cancel(LoopState& state);

}  // namespace live::io::st
