// Everything one loop owns, reachable through one object. The core is C with its own globals and calls back without a context, so
// one pointer to this object exists per process (callbacks.cpp). Only for .cpp files of the io room.
#pragma once

#include <cstdint>
#include <memory>

#include "io/fiber.hpp"
#include "io/loop_watch.hpp"
#include "io/st/core.hpp"
#include "io/st/engine.hpp"
#include "io/st/fiber_stack.hpp"
#include "io/st/stack_pool.hpp"
#include "io/st/timer_heap.hpp"
#include "io/worker_pool.hpp"

namespace live::io::st {

class CpuSamples;

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
    Fiber* fibers = nullptr;              // all but the primordial one
    std::size_t fiber_count = 0;
    std::size_t fibers_max = 0;
    std::size_t stack_bytes = 0;
    std::size_t tls_sessions = 0;
    std::uint64_t next_fiber_id = 1;
    std::uint64_t switches = 0;
    void** exceptions = nullptr;    // the runtime's, of the loop's thread
    _st_thread* running = nullptr;  // who the switch hooks saw last
    LoopWatch watch;
    CpuSamples* cpu_samples = nullptr;  // while profile_cpu() takes a profile
    std::uint32_t switches_since_poll = 0;
    std::uint32_t operations_since_switch = 0;
    std::uint32_t no_suspend = 0;  // living NoSuspend guards
    bool idle_queued = false;
    bool in_use = false;  // a Loop exists

    // The fiber that runs now; nullptr inside the idle thread and threads that the core has made for somebody else.
    Fiber* current() const { return static_cast<Fiber*>(_st_this_thread->private_data[kFiberKey]); }
    static void set_fiber(_st_thread* thread, Fiber* fiber) { thread->private_data[kFiberKey] = fiber; }
    // The first key of the core; start_core() takes it.
    static constexpr int kFiberKey = 0;
};

// The one pointer the core's callbacks find us by; nullptr before the first Loop::create. Never freed: the core cannot be
// stopped, and a later Loop takes it over. Nobody but start_core() writes it.
inline constinit LoopState* the_loop = nullptr;

// The loop of this process; aborts before the first Loop::create.
inline LoopState& loop_state() {
    CHECK(the_loop != nullptr);
    return *the_loop;
}
inline LoopState* loop_state_or_null() { return the_loop; }
// Creates the state and starts the core, once per process. -1 with errno.
int start_core();

Result<void> yield_for_others();

// Lets others run when this fiber has done many operations, or has run for some milliseconds, without a switch. To be called by
// whatever may suspend but need not. Errc::cancelled only when it yields: the sleep that may follow reports a cancel anyway.
inline Result<void> breathe() {
    LoopState& state = loop_state();
    CHECK(state.no_suspend == 0);
    if (++state.operations_since_switch < LoopState::kOperationsPerRunMax && !state.watch.has_run_long()) [[likely]]
        return {};
    return yield_for_others();
}
bool report_cancel(LoopState& state);

// What a sleep asks first: a fiber that was cancelled does not sleep. True also for the core's own interrupt.
inline bool take_cancel(LoopState& state) {
    const Fiber* fiber = state.current();
    const bool maybe = (_st_this_thread->flags & _ST_FL_INTERRUPT) != 0 || (fiber != nullptr && fiber->cancelled);
    return maybe && report_cancel(state);
}

}  // namespace live::io::st
