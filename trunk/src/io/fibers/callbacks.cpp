// The functions that the C core calls: its event system, its stacks, its sleep queue, the hooks around a switch, and st_poll with
// its family. All in one file on purpose: the sleep queue's definitions in sched.c are weak, and a linker takes ours only from an
// archive member that it needs for something else as well.
#include <alloca.h>
#include <cxxabi.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>

#include <poll.h>
#include <sys/epoll.h>

#include "base/check.hpp"
#include "io/fibers/loop_state.hpp"
#include "io/fibers/park.hpp"
#include "io/st/instrument.hpp"

namespace live::io::st {

namespace {

FiberStack& stack_of(LoopState& state, _st_thread* thread) {
    return thread->stack == nullptr ? state.primordial_stack : *reinterpret_cast<FiberStack*>(thread->stack);
}

// Both are empty at nearly every switch.
void swap_exceptions(LoopState& state, _st_thread* from, _st_thread* to) {
    void** globals = state.exceptions;
    if (__builtin_expect(globals[0] != nullptr || *reinterpret_cast<unsigned*>(&globals[1]) != 0, 0) && from != nullptr) {
        stack_of(state, from).exceptions = {globals[0], globals[1]};
        globals[0] = nullptr;
        globals[1] = nullptr;
        from->flags |= kHasExceptions;
    }
    if (__builtin_expect((to->flags & kHasExceptions) != 0, 0)) {
        globals[0] = stack_of(state, to).exceptions[0];
        globals[1] = stack_of(state, to).exceptions[1];
        to->flags &= ~kHasExceptions;
    }
}

// The core would queue them without regard to urgency.
void wake_due(LoopState& state, std::uint64_t now) {
    for (_st_thread* first = state.timers.first(); first != nullptr && first->due <= now; first = state.timers.first()) {
        _ST_DEL_SLEEPQ(first);
        if (first->state == _ST_ST_COND_WAIT)
            first->flags |= _ST_FL_TIMEDOUT;
        first->state = _ST_ST_RUNNABLE;
        queue_runnable(state, first);
    }
}

// `to` runs next. Many runnable fibers must not delay the poll, and the urgent fibers that it wakes.
__attribute__((no_sanitize("address"))) void note_run(LoopState& state, _st_thread* to) {
    if (to == _st_this_vp.idle_thread)
        return;
    if ((to->flags & kQueuedAhead) != 0) {
        to->flags &= ~kQueuedAhead;
        state.order.run_urgent();
    } else {
        state.order.run_other();
    }
    if (++state.runs_since_poll % LoopState::kSwitchesPerLook == 0 && st_utime() - _ST_LAST_CLOCK >= LoopState::kUnpolledMax)
        poll_next(state);
}

// `until`: when the loop should have come here at the latest. Reports whether there was a pause.
bool note_pause(LoopState& state, std::uint64_t until, std::uint64_t now) {
    const auto at = [](std::uint64_t micros) { return TimePoint(std::chrono::microseconds(static_cast<std::int64_t>(micros))); };
    if (now <= until || at(now) - at(until) < Pauses::kMin) [[likely]]
        return false;
    state.pauses.add(at(until), at(now));
    return true;
}

std::int64_t microseconds_to_next_timer(LoopState& state, std::uint64_t now) {
    if (!ST_CLIST_IS_EMPTY(&_ST_RUNQ))
        return 0;
    const _st_thread* first = state.timers.first();
    if (first == nullptr)
        return -1;
    return first->due <= now ? 0 : static_cast<std::int64_t>(first->due - now);
}

// Polls for `wait` microseconds (negative: forever). Returns the time up to which timers may fire. A stopped process stops at the
// return of a system call: if that is the poll, what arrived meanwhile has not been polled.
std::uint64_t poll_until(LoopState& state, std::uint64_t now, std::int64_t wait) {
    constexpr int kRoundsMax = 8;
    state.engine.turn(now, wait);
    std::uint64_t after = st_utime();
    std::uint64_t until = now + static_cast<std::uint64_t>(std::max<std::int64_t>(wait, 0));
    for (int round = 1; wait >= 0 && note_pause(state, until, after) && round < kRoundsMax; ++round) {
        state.engine.turn(after, 0);
        until = after;
        after = st_utime();
    }
    return after;
}

extern "C" {

int engine_init() { return 0; }

void engine_dispatch() {
    LoopState& state = *the_loop;
    state.idle_queued = false;
    state.switches_since_poll = 0;
    state.runs_since_poll = 0;
    state.stacks.trim();
    // The time just after the previous poll.
    const std::uint64_t now = st_utime();
    state.watch.end_turn(std::chrono::microseconds(static_cast<std::int64_t>(now - _ST_LAST_CLOCK)));
    note_pause(state, _ST_LAST_CLOCK, now);
    const std::int64_t wait = microseconds_to_next_timer(state, now);
    state.polled_at = poll_until(state, now, wait);
    wake_due(state, state.polled_at);
}

// The core's own st_poll is compiled away; nothing calls these two.
int engine_pollset_add(pollfd*, int) {
    errno = ENOSYS;
    return -1;
}
void engine_pollset_del(pollfd*, int) {}

int engine_fd_new(int fd) {
    if (the_loop->engine.attach(fd))
        return 0;
    errno = EBADF;
    return -1;
}

int engine_fd_close(int fd) {
    if (the_loop->engine.has_waiters(fd)) {
        errno = EBUSY;
        return -1;
    }
    the_loop->engine.detach(fd);
    return 0;
}

// Zero: as many as the process may have.
int engine_fd_limit() { return 0; }

}  // extern "C"

_st_eventsys_t event_system = {"live-epoll",       ST_EVENTSYS_ALT, engine_init,     engine_dispatch, engine_pollset_add,
                               engine_pollset_del, engine_fd_new,   engine_fd_close, engine_fd_limit};

#ifdef LIVE_ASAN
void register_leak_roots_at_exit() { the_loop->stacks.register_leak_roots(_st_this_thread); }
#endif

enum class Recheck : bool { no, yes };

// poll(2) for fibers. Recheck::no when the caller has just seen EAGAIN or a short transfer.
int poll_descriptors(pollfd* descriptors, int count, st_utime_t timeout, Recheck recheck) {
    constexpr int kDescriptorsMax = 64;
    if (count < 0 || count > kDescriptorsMax) {
        errno = EINVAL;
        return -1;
    }
    Engine& engine = the_loop->engine;
    const std::size_t size = static_cast<std::size_t>(count);
    auto* nodes = static_cast<ParkNode*>(alloca(sizeof(ParkNode) * (size + 1)));
    for (std::size_t i = 0; i < size; ++i) {
        nodes[i] = ParkNode{};
        nodes[i].fd = descriptors[i].fd;
        nodes[i].wanted = static_cast<std::uint16_t>(descriptors[i].events);
        descriptors[i].revents = 0;
        const bool armed = recheck == Recheck::yes ? engine.rearm(nodes[i].fd) : engine.arm(nodes[i].fd);
        if (!armed)
            return -1;
        if (recheck == Recheck::no)
            engine.set_blocked(nodes[i].fd, nodes[i].wanted);
    }
    Park park;
    const auto end = park.sleep({nodes, size}, timeout == ST_UTIME_NO_TIMEOUT ? kNeverDue : st_utime() + timeout);
    if (end == Park::End::cancelled) {
        errno = EINTR;
        return -1;
    }
    if (end == Park::End::system)
        return -1;
    int ready = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t got = nodes[i].got;
        descriptors[i].revents = static_cast<short>((got & Engine::kClosed) != 0 ? POLLNVAL : got & ~EPOLLRDHUP);
        ready += descriptors[i].revents != 0 ? 1 : 0;
    }
    return ready;
}

}  // namespace

int start_core() {
    auto state = std::make_unique<LoopState>();
    if (!state->engine.open().ok())
        return -1;
    the_loop = state.release();
    if (st_init() < 0)
        return -1;
    // {caught exceptions, count of uncaught ones}, per OS thread; the layout is part of the C++ ABI.
    the_loop->exceptions = reinterpret_cast<void**>(abi::__cxa_get_globals());
    the_loop->running = _st_this_thread;
    the_loop->primordial.thread = _st_this_thread;
    int key = -1;
    CHECK(st_key_create(&key, nullptr) == 0 && key == LoopState::kFiberKey);
    LoopState::set_fiber(_st_this_thread, &the_loop->primordial);
#ifdef LIVE_ASAN
    std::atexit(register_leak_roots_at_exit);
#endif
    return 0;
}

}  // namespace live::io::st

using live::io::st::LoopState;

extern "C" {

_st_eventsys_t* _st_eventsys = nullptr;

int st_set_eventsys(int) {
    _st_eventsys = &live::io::st::event_system;
    return 0;
}
int st_get_eventsys(void) { return ST_EVENTSYS_ALT; }
const char* st_get_eventsys_name(void) { return live::io::st::event_system.name; }
int st_randomize_stacks(int on) { return on; }

_st_stack_t* _st_stack_new(int bytes) { return live::io::st::loop_state().stacks.take(static_cast<std::size_t>(bytes)); }
void _st_stack_free(_st_stack_t* stack) {
    if (stack != nullptr)
        live::io::st::loop_state().stacks.recycle(stack);
}

void _st_add_sleep_q(_st_thread_t* thread, st_utime_t timeout) {
    LoopState& state = live::io::st::loop_state();
    thread->due = _ST_LAST_CLOCK + timeout;
    thread->flags |= _ST_FL_ON_SLEEPQ;
    state.timers.add(thread, thread->due);
    _ST_SLEEPQ = state.timers.first();
}
void _st_del_sleep_q(_st_thread_t* thread) {
    LoopState& state = live::io::st::loop_state();
    state.timers.remove(thread);
    thread->flags &= ~_ST_FL_ON_SLEEPQ;
    _ST_SLEEPQ = state.timers.first();
}

// Not instrumented: its own frame must not lie on the fake stack that start_switch() removes.
__attribute__((no_sanitize("address"))) void live_switch_leave(_st_thread* to) {
    LoopState& state = live::io::st::loop_state();
    _st_thread* from = state.running;
    live::io::st::swap_exceptions(state, from, to);
    live::io::st::note_run(state, to);
    state.watch.end_run(static_cast<const live::io::Fiber*>(from->private_data[LoopState::kFiberKey]));
    state.running = to;
    ++state.switches;
    state.operations_since_switch = 0;
#ifdef LIVE_ASAN
    auto& old_stack = live::io::st::stack_of(state, from);
    auto& new_stack = live::io::st::stack_of(state, to);
    new_stack.thread = to;
    const bool gone = from->stack != nullptr && !old_stack.in_use;
    live::io::st::instrument::start_switch(gone ? nullptr : &old_stack.sanitizer_fake_stack, new_stack.core.stk_bottom,
                                           static_cast<std::size_t>(new_stack.core.stk_size));
#endif
}

__attribute__((no_sanitize("address"))) void live_switch_enter(void) {
#ifdef LIVE_ASAN
    LoopState& state = live::io::st::loop_state();
    const void* old_bottom = nullptr;
    std::size_t old_bytes = 0;
    auto& stack = live::io::st::stack_of(state, state.running);
    live::io::st::instrument::finish_switch(stack.sanitizer_fake_stack, &old_bottom, &old_bytes);
    // The first switch leaves the primordial stack, whose bounds are not known otherwise.
    auto& primordial = state.primordial_stack.core;
    if (primordial.stk_bottom == nullptr) {
        primordial.stk_bottom = const_cast<char*>(static_cast<const char*>(old_bottom));
        primordial.stk_size = static_cast<int>(old_bytes);
    }
#endif
}

// sched.c is compiled with this name in place of st_utime, and sets its clock after each poll. Read again, the clock could be
// later by a pause that nothing has noted, and its timers would fire before a poll.
st_utime_t live_turn_clock(void) {
    const LoopState& state = live::io::st::loop_state();
    return state.polled_at != 0 ? state.polled_at : st_utime();
}

int st_poll(pollfd* descriptors, int count, st_utime_t timeout) {
    return live::io::st::poll_descriptors(descriptors, count, timeout, live::io::st::Recheck::yes);
}
// io.c is compiled with this name in place of st_poll.
int live_poll_after_eagain(pollfd* descriptors, int count, st_utime_t timeout) {
    return live::io::st::poll_descriptors(descriptors, count, timeout, live::io::st::Recheck::no);
}
int st_netfd_poll(_st_netfd_t* descriptor, int how, st_utime_t timeout) {
    pollfd one{descriptor->osfd, static_cast<short>(how), 0};
    const int ready = st_poll(&one, 1, timeout);
    if (ready == 0)
        errno = ETIME;
    return ready > 0 ? 0 : -1;
}

}  // extern "C"
