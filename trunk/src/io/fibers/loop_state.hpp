// Everything one loop owns, reachable through one object. The core is C with its own globals and calls back without a context, so
// one pointer to this object exists per process (callbacks.cpp). Only for .cpp files of the io room.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/net/endpoint.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/fiber.hpp"
#include "io/fibers/loop_watch.hpp"
#include "io/fibers/pauses.hpp"
#include "io/fibers/turn_order.hpp"
#include "io/st/core.hpp"
#include "io/st/engine.hpp"
#include "io/st/fiber_stack.hpp"
#include "io/st/run_order.hpp"
#include "io/st/stack_pool.hpp"
#include "io/st/timer_heap.hpp"
#include "io/threads/worker_pool.hpp"

namespace live::io::st {

class CpuSamples;

// See io/process/inheritance.hpp.
struct Inherited {
    std::string name;
    int fd = -1;
};

// Buffers of all TLS streams, empty between two calls of a stream.
struct TlsScratch {
    std::vector<std::uint8_t> input;   // plaintext that lay in several parts
    std::vector<std::uint8_t> output;  // records that are sent with one call
    std::size_t records_left = 0;      // of the current write
};

struct LoopState {
    // Fibers that keep each other runnable must not starve descriptors and timers: after this many switches a poll is queued
    // after the runnable fibers.
    static constexpr std::uint32_t kSwitchesPerPollMax = 256;
    // Nor may many fibers that wait for a turn: then the poll is next. Microseconds since the last one, looked at every few
    // switches.
    static constexpr std::uint64_t kUnpolledMax = 1'000;
    static constexpr std::uint32_t kSwitchesPerLook = 4;
    // Nor may a fiber whose socket always has more data: it yields after this many operations without a switch.
    static constexpr std::uint32_t kOperationsPerRunMax = 64;

    Engine engine;
    TimerHeap timers;
    StackPool stacks;
    FiberStack primordial_stack;
    Fiber primordial{"main"};
    std::atomic<std::size_t> bytes_being_freed = 0;  // by workers
    std::unique_ptr<WorkerPool> workers;             // created by the first off_loop
    Fiber* fibers = nullptr;                         // all but the primordial one
    std::size_t fiber_count = 0;
    std::size_t fibers_max = 0;
    std::size_t stack_bytes = 0;
    std::size_t tls_sessions = 0;
    TlsScratch tls;
    TurnState handshakes;  // of TLS servers
    std::uint64_t next_fiber_id = 1;
    std::uint64_t switches = 0;
    void** exceptions = nullptr;    // the C++ runtime's, of the loop's thread
    _st_thread* running = nullptr;  // the thread last seen by the switch hooks
    LoopWatch watch;
    Pauses pauses;
    CpuSamples* cpu_samples = nullptr;  // while profile_cpu() takes a profile
    std::uint64_t polled_at = 0;        // microseconds: io::now() of the turn; 0 before the first one
    std::uint32_t switches_since_poll = 0;
    std::uint32_t runs_since_poll = 0;  // of fibers
    RunOrder order;
    _st_clist* last_urgent = nullptr;  // in the run queue, while order.waiting() is not 0
    std::uint32_t operations_since_switch = 0;
    std::uint32_t no_suspend = 0;  // existing NoSuspend guards
    bool idle_queued = false;
    bool in_use = false;  // a Loop exists
    std::vector<Inherited> inherited;
    bool holds_arrivals = false;

    // The running fiber; nullptr in the idle thread and in threads that the core has created for other users.
    Fiber* current() const { return static_cast<Fiber*>(_st_this_thread->private_data[kFiberKey]); }
    static void set_fiber(_st_thread* thread, Fiber* fiber) { thread->private_data[kFiberKey] = fiber; }
    // The first key of the core; start_core() takes it.
    static constexpr int kFiberKey = 0;
};

// The one pointer through which the core's callbacks find this object; nullptr before the first Loop::create. Never freed: the
// core cannot be stopped, and a later Loop takes it over. Only start_core() writes it.
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

// In _st_thread::flags: the fiber stopped inside a catch block; it is urgent; it is queued ahead of those that are not. Stored
// there because the thread object is in the cache at a switch anyway.
inline constexpr int kHasExceptions = 0x100;
inline constexpr int kUrgent = 0x200;
inline constexpr int kQueuedAhead = 0x400;

// Returns the inherited descriptor of this type and address; negative if missing.
int take_inherited(const Endpoint& on, int type);
// Returns at once unless arrivals are held. Errc::timed_out, Errc::cancelled.
Result<void> wait_while_held(Deadline deadline);

// Yields when this fiber has done many operations, or has run for some milliseconds, without a switch. To be called by everything
// that may suspend but does not need to. Errc::cancelled only when it yields: a following sleep reports a cancel anyway.
inline Result<void> breathe() {
    LoopState& state = loop_state();
    CHECK(state.no_suspend == 0);
    if (++state.operations_since_switch < LoopState::kOperationsPerRunMax && !state.watch.has_run_long()) [[likely]]
        return {};
    return yield_for_others();
}
bool report_cancel(LoopState& state);

// Checked first by every sleep: a cancelled fiber does not sleep. Also true for the core's own interrupt.
inline bool take_cancel(LoopState& state) {
    const Fiber* fiber = state.current();
    const bool maybe = (_st_this_thread->flags & _ST_FL_INTERRUPT) != 0 || (fiber != nullptr && fiber->cancelled);
    return maybe && report_cancel(state);
}

}  // namespace live::io::st
