#include "io/fibers/loop.hpp"

#include <cerrno>

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/fibers/loop_state.hpp"
#include "io/fibers/park.hpp"
#include "io/fibers/wait_until.hpp"
#include "io/st/instrument.hpp"

namespace live::io {

TimePoint now() {
    if (st::loop_state_or_null() == nullptr)
        return std::chrono::steady_clock::now();
    return TimePoint(std::chrono::microseconds(static_cast<std::int64_t>(_ST_LAST_CLOCK)));
}

Result<std::unique_ptr<Loop>> Loop::create(const LoopOptions& options) {
    if (st::loop_state_or_null() == nullptr && st::start_core() < 0)
        return system_error("starting the coroutine core", errno);
    st::LoopState& state = st::loop_state();
    if (state.in_use)
        return Error(Errc::conflict, "the process has a loop already");
    state.in_use = true;
    state.stack_bytes = options.stack_bytes * (st::instrument::kAddressSanitizer ? 4 : 1);
    state.fibers_max = options.fibers_max;
    state.watch.begin(options.long_hold);
    // The clock has not advanced since a previous loop ended.
    _ST_LAST_CLOCK = st_utime();
    state.primordial.started = now();
    return std::make_unique<Loop>(Private{});
}

Loop::~Loop() {
    st::LoopState& state = st::loop_state();
    CHECK(state.fiber_count == 0);
    state.workers.reset();
    state.in_use = false;
}

LoopCounters Loop::counters() {
    const st::LoopState& state = st::loop_state();
    return {.turns = state.engine.turns(),
            .switches = state.switches,
            .epoll_controls = state.engine.controls(),
            .coalesced = state.engine.coalesced(),
            .fibers = state.fiber_count,
            .fiber_bytes = sizeof(Fiber),
            .sleeping = state.timers.size(),
            .stacks = state.stacks.live(),
            .stacks_pooled = state.stacks.pooled(),
            .stack_bytes = state.stack_bytes,
            .tls_sessions = state.tls_sessions};
}

LoopWatch& Loop::watch() { return st::loop_state().watch; }
void Loop::release_stacks() { st::loop_state().stacks.release(); }

Result<void> sleep(Deadline until) {
    st::Park park;
    if (park.sleep({}, st::due_of(until)) == st::Park::End::cancelled)
        return st::cancelled_error();
    return {};
}

Result<void> yield(Deadline) {
    st::yield_turn();
    if (st::take_cancel(st::loop_state()))
        return st::cancelled_error();
    return {};
}

bool is_turn_over() { return st::loop_state().watch.has_run_long(); }

Result<void> wait(Signal& signal, Deadline deadline) {
    TRY(st::breathe());
    if (signal.consume())
        return {};
    st::Park park;
    CHECK(!signal.has_waiter());
    signal.set_waiter(&park);
    park.expect_kick();
    const auto end = park.sleep({}, st::due_of(deadline));
    signal.set_waiter(nullptr);
    if (signal.consume())
        return {};
    if (end == st::Park::End::cancelled)
        return st::cancelled_error();
    return Error(Errc::timed_out, "nothing happened before the deadline");
}

void trim_stack() {
    if (st::instrument::kAddressSanitizer || st::loop_state_or_null() == nullptr || _st_this_thread->stack == nullptr)
        return;
    // Our own frame, the 128 bytes that a leaf function may use below it, and madvise's frame: a few hundred bytes at most. An
    // overestimate may cost a whole page per player.
    constexpr std::uintptr_t kBelowFrame = 512;
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto bottom = reinterpret_cast<std::uintptr_t>(_st_this_thread->stack->stk_bottom);
    const auto end = (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - kBelowFrame) & ~(page - 1);
    if (end > bottom)
        ::madvise(_st_this_thread->stack->stk_bottom, end - bottom, MADV_DONTNEED);
}

CancelShield::CancelShield() { ++st::loop_state().current()->shields; }
CancelShield::~CancelShield() { --st::loop_state().current()->shields; }

Urgent::Urgent() : was_urgent_((_st_this_thread->flags & st::kUrgent) != 0) { _st_this_thread->flags |= st::kUrgent; }
Urgent::~Urgent() {
    if (!was_urgent_)
        _st_this_thread->flags &= ~st::kUrgent;
}

NoSuspend::NoSuspend() {
    if (st::LoopState* state = st::loop_state_or_null())
        ++state->no_suspend;
}
NoSuspend::~NoSuspend() {
    if (st::LoopState* state = st::loop_state_or_null())
        --state->no_suspend;
}

namespace {

FiberState state_of(const Fiber& fiber) {
    if (fiber.thread == _st_this_thread)
        return FiberState::running;
    if (fiber.thread->state != _ST_ST_IO_WAIT)
        return FiberState::runnable;
    return (fiber.thread->flags & _ST_FL_ON_SLEEPQ) != 0 ? FiberState::sleeping : FiberState::waiting;
}

// EPOLLRDHUP and the like are always requested.
std::string waits_for(const st::Park& park) {
    std::string text;
    const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
    for (const st::ParkNode& node : park.nodes()) {
        if (node.fd < 0)
            continue;  // already closed: it wakes soon
        const bool writes = (node.wanted & EPOLLOUT) != 0;
        const bool reads = (node.wanted & EPOLLIN) != 0;
        add("descriptor " + std::to_string(node.fd) +
            (reads && writes ? " to read or write"
             : writes        ? " to write"
                             : " to read"));
    }
    if (park.expects_kick())
        add("a signal");
    return text.empty() ? "time" : text;
}

FiberInfo describe(const Fiber& fiber, TimePoint at) {
    FiberInfo info{.id = fiber.id,
                   .name = fiber.name,
                   .scope = std::string(fiber.scope_name),
                   .age = at - fiber.started,
                   .state = state_of(fiber),
                   .waits_for = {},
                   .due_in = {},
                   .stack_touched_bytes = 0,
                   .cancelled = fiber.cancelled};
    if (fiber.park != nullptr)
        info.waits_for = waits_for(*fiber.park);
    if ((fiber.thread->flags & _ST_FL_ON_SLEEPQ) != 0)
        info.due_in = TimePoint(std::chrono::microseconds(static_cast<std::int64_t>(fiber.thread->due))) - at;
    if (fiber.thread->stack != nullptr)
        info.stack_touched_bytes = st::StackPool::touched_bytes(*fiber.thread->stack);
    return info;
}

}  // namespace

std::vector<FiberInfo> list_fibers(std::size_t start, std::size_t count) {
    std::vector<FiberInfo> listed;
    const st::LoopState* state = st::loop_state_or_null();
    if (state == nullptr)
        return listed;
    const TimePoint at = now();
    std::size_t place = 0;
    const Fiber* fiber = &state->primordial;
    while (fiber != nullptr && listed.size() < count) {
        if (place++ >= start)
            listed.push_back(describe(*fiber, at));
        fiber = fiber == &state->primordial ? state->fibers : fiber->next;
    }
    return listed;
}

std::uint64_t fiber_id() {
    const st::LoopState* state = st::loop_state_or_null();
    return state == nullptr || state->current() == nullptr ? 0 : state->current()->id;
}

std::string_view fiber_name() {
    const st::LoopState* state = st::loop_state_or_null();
    return state == nullptr || state->current() == nullptr ? std::string_view() : std::string_view(state->current()->name);
}

}  // namespace live::io
