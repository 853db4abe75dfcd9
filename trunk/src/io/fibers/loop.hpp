// The event loop of the process and what a fiber does with it directly: sleep, yield, wait for a Signal. The loop runs whenever
// the fiber that created it (the primordial one) or any other suspends; there is no run() to call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/loop_watch.hpp"

namespace live::io {

struct LoopOptions {
    // Address space of a fiber's stack; a fiber parked at low depth keeps one page of it resident. Builds with AddressSanitizer
    // use four times as much.
    std::size_t stack_bytes = 64 * 1024;
    // Beyond this, Scope::start fails with Errc::limit.
    std::size_t fibers_max = 100'000;
    // A fiber that runs longer than this without suspending is reported by LoopWatch::take_holds(). Below 20 ms its CPU time
    // counts, measured at each switch.
    std::chrono::nanoseconds long_hold = std::chrono::milliseconds(100);
};

// Counts since the creation of the loop.
struct LoopCounters {
    std::uint64_t turns = 0;           // calls of epoll_wait
    std::uint64_t switches = 0;        // between fibers
    std::uint64_t epoll_controls = 0;  // calls of epoll_ctl
    std::size_t coalesced = 0;         // streams whose fibers may be woken together, Stream::coalesce_wakes()
    std::size_t fibers = 0;            // alive now, without the primordial one
    std::size_t fiber_bytes = 0;       // size of one record, without its stack
    std::size_t sleeping = 0;          // with a deadline
    std::size_t stacks = 0;            // of living fibers
    std::size_t stacks_pooled = 0;
    std::size_t stack_bytes = 0;   // address space of one
    std::size_t tls_sessions = 0;  // existing TLS streams
};

class Loop {
    struct Private {};  // only create() can make one

public:
    // At most one exists at a time (Errc::conflict); another may be created after it is destroyed. Raises the limit of open files
    // to what the system allows and ignores SIGPIPE. The caller becomes the primordial fiber.
    static Result<std::unique_ptr<Loop>> create(const LoopOptions& options = {});
    explicit Loop(Private) {}
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Returns the counters of the process's loop, for callers that hold no reference to it.
    static LoopCounters counters();
    // Returns the memory of unused stacks to the kernel. Not to be called as the last act of a fiber.
    static void release_stacks();
    static LoopWatch& watch();
};

// Suspends until the deadline. Errc::cancelled when the fiber's scope is stopped.
Result<void> sleep(Deadline until);

// Lets every runnable fiber run and polls descriptors and timers once. The deadline only marks that it suspends.
Result<void> yield(Deadline);

// Reports whether this fiber has run for some milliseconds (LoopWatch::has_run_long). Call between two pieces of work, and
// yield() if true.
bool is_turn_over();

// Waits for the signal and consumes it; an earlier raise counts. At most one fiber may wait for a signal. Errc::timed_out,
// Errc::cancelled.
Result<void> wait(Signal& signal, Deadline deadline);

// Returns the pages below the caller's frame to the kernel: for a fiber that has used a deep stack once (TLS handshake, parsing)
// and will now be parked for long. A system call, no suspension.
void trim_stack();

// While one exists, a cancel does not end this fiber's waits: for clean-up that has its own deadline.
class CancelShield {
public:
    CancelShield();
    ~CancelShield();
    CancelShield(const CancelShield&) = delete;
    CancelShield& operator=(const CancelShield&) = delete;
};

// While one exists, this fiber runs before others when it wakes from a wait or a sleep: for work whose delay many clients notice.
// Others run in between (st/run_order.hpp), and yield() gives way to all.
class Urgent {
public:
    Urgent();
    ~Urgent();
    Urgent(const Urgent&) = delete;
    Urgent& operator=(const Urgent&) = delete;

private:
    const bool was_urgent_;
};

// While one exists, suspending aborts: for code that must not interleave with other fibers.
class NoSuspend {
public:
    NoSuspend();
    ~NoSuspend();
    NoSuspend(const NoSuspend&) = delete;
    NoSuspend& operator=(const NoSuspend&) = delete;
};

enum class FiberState { running, runnable, waiting, sleeping };

struct FiberInfo {
    std::uint64_t id = 0;
    std::string name;
    std::string scope;  // empty for the primordial fiber
    std::chrono::nanoseconds age{};
    FiberState state = FiberState::runnable;
    // "descriptor 7 to read, a signal", "time"; empty when it is not waiting.
    std::string waits_for;
    std::optional<std::chrono::nanoseconds> due_in;  // until its deadline, when it waits with one
    // Deepest use of its stack, in whole pages, since trim_stack() or since it was mapped, including earlier fibers. 0: unknown.
    std::size_t stack_touched_bytes = 0;
    bool cancelled = false;
};

// At most `count` fibers after skipping `start`: the primordial one first, then newest first. Costs a system call per listed
// fiber and a pointer dereference per skipped one.
std::vector<FiberInfo> list_fibers(std::size_t start, std::size_t count);

// The id of the running fiber, for Scope::cancel(); 0 without a loop.
std::uint64_t fiber_id();
// The name of the running fiber; empty without a loop.
std::string_view fiber_name();

}  // namespace live::io
