#include "io/fibers/park.hpp"

#include <cerrno>

#include "base/check.hpp"
#include "io/fibers/loop_state.hpp"

namespace live::io::st {

namespace {

// The idle thread polls; queued like any other, it runs after everything that is currently runnable.
void queue_idle(LoopState& state) {
    if (state.idle_queued)
        return;
    state.idle_queued = true;
    _ST_ADD_RUNQ(_st_this_vp.idle_thread);
}

// The stack of a long-parked fiber is not in the cache; prefetching loads its cache lines in parallel instead of one after the
// other.
void fetch_stack(const _st_thread& thread) {
    constexpr int kLineBytes = 64;
    constexpr int kLines = 16;  // in both directions: the frames in use, and the space used next
    const auto* const top = reinterpret_cast<const char*>(thread.context[0].slot[LIVE_CONTEXT_SP]);
    for (int line = -kLines; line < kLines; ++line)
        __builtin_prefetch(top + line * kLineBytes, 1);
}

void make_runnable(_st_thread* thread) {
    fetch_stack(*thread);
    if ((thread->flags & _ST_FL_ON_SLEEPQ) != 0)
        _ST_DEL_SLEEPQ(thread);
    thread->state = _ST_ST_RUNNABLE;
    queue_runnable(loop_state(), thread);
}

bool link_all(Engine& engine, std::span<ParkNode> nodes, Park* park) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].sleeper = park;
        if (engine.arm(nodes[i].fd)) {
            engine.link(nodes[i]);
            continue;
        }
        const int error = errno;
        for (ParkNode& linked : nodes.first(i))
            engine.unlink(linked);
        errno = error;
        return false;
    }
    return true;
}

// Events already reported by epoll are not reported again.
bool mark_ready(const Engine& engine, std::span<ParkNode> nodes) {
    bool any = false;
    for (ParkNode& node : nodes) {
        node.got = engine.ready(node.fd, node.wanted);
        any = any || node.got != 0;
    }
    return any;
}

}  // namespace

void queue_runnable(LoopState& state, _st_thread* thread) {
    if ((thread->flags & kUrgent) == 0 || !state.order.queue_urgent()) {
        _ST_ADD_RUNQ(thread);
        return;
    }
    thread->flags |= kQueuedAhead;
    _st_clist* const after = state.order.waiting() > 1 ? state.last_urgent : &_ST_RUNQ;
    ST_INSERT_AFTER(&thread->links, after);
    state.last_urgent = &thread->links;
}

void poll_next(LoopState& state) {
    _st_thread* const idle = _st_this_vp.idle_thread;
    if (state.idle_queued)
        _ST_DEL_RUNQ(idle);
    state.idle_queued = true;
    ST_INSERT_AFTER(&idle->links, &_ST_RUNQ);
}

Park::End Park::sleep(std::span<ParkNode> nodes, std::uint64_t due) {
    LoopState& state = loop_state();
    CHECK(state.no_suspend == 0);
    _st_thread* me = _st_this_thread;
    Fiber* fiber = state.current();
    CHECK(fiber == nullptr || fiber->park == nullptr);
    if (take_cancel(state))
        return End::cancelled;
    if (kicked_)
        return End::kicked;
    if (!link_all(state.engine, nodes, this))
        return End::system;
    if (mark_ready(state.engine, nodes)) {
        for (ParkNode& node : nodes)
            state.engine.unlink(node);
        return End::ready;
    }

    thread_ = me;
    nodes_ = nodes;
    if (fiber != nullptr)
        fiber->park = this;
    if (due != kNeverDue) {
        me->due = due;
        me->flags |= _ST_FL_ON_SLEEPQ;
        state.timers.add(me, due);
        _ST_SLEEPQ = state.timers.first();
    }
    me->state = _ST_ST_IO_WAIT;
    if (++state.switches_since_poll >= LoopState::kSwitchesPerPollMax)
        queue_idle(state);
    // In this frame, not in a helper's: the processor mispredicts every return after a switch.
    _ST_SWITCH_CONTEXT(me);

    if (fiber != nullptr)
        fiber->park = nullptr;
    thread_ = nullptr;
    for (ParkNode& node : nodes)
        state.engine.unlink(node);
    return outcome(nodes);
}

Park::End Park::outcome(std::span<const ParkNode> nodes) const {
    for (const ParkNode& node : nodes) {
        if (node.got != 0)
            return End::ready;
    }
    if (kicked_)
        return End::kicked;
    return take_cancel(loop_state()) ? End::cancelled : End::timed_out;
}

void Park::wake() {
    // Its deadline may have made it runnable already; it finds the reason when it runs.
    if (thread_ != nullptr && thread_->state == _ST_ST_IO_WAIT)
        make_runnable(thread_);
}

void yield_turn() {
    LoopState& state = loop_state();
    CHECK(state.no_suspend == 0);
    _st_thread* me = _st_this_thread;
    queue_idle(state);
    me->state = _ST_ST_RUNNABLE;
    _ST_ADD_RUNQ(me);
    _ST_SWITCH_CONTEXT(me);
}

bool report_cancel(LoopState& state) {
    Fiber* fiber = state.current();
    // The core's own interrupt, for st_thread_interrupt(): applies to one sleep only.
    if ((_st_this_thread->flags & _ST_FL_INTERRUPT) != 0) {
        _st_this_thread->flags &= ~_ST_FL_INTERRUPT;
        return true;
    }
    if (fiber == nullptr || !fiber->cancelled || fiber->shields > 0)
        return false;
    // A fiber that ignores its cancel and retries must not monopolize the loop.
    if (fiber->cancel_seen)
        yield_turn();
    fiber->cancel_seen = true;
    return true;
}

Result<void> yield_for_others() {
    yield_turn();
    if (take_cancel(loop_state()))
        return Error(Errc::cancelled, "the fiber was cancelled");
    return {};
}

}  // namespace live::io::st
