#include "io/fibers/scope.hpp"

#include <cerrno>
#include <memory>
#include <utility>

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"
#include "io/fibers/park.hpp"

namespace live::io {

namespace {

void link_to_loop(st::LoopState& state, Fiber& fiber) {
    fiber.next = state.fibers;
    if (state.fibers != nullptr)
        state.fibers->previous = &fiber;
    state.fibers = &fiber;
    ++state.fiber_count;
}

void unlink_from_loop(st::LoopState& state, Fiber& fiber) {
    if (fiber.previous != nullptr)
        fiber.previous->next = fiber.next;
    else
        state.fibers = fiber.next;
    if (fiber.next != nullptr)
        fiber.next->previous = fiber.previous;
    --state.fiber_count;
}

void cancel_fiber(Fiber& fiber) {
    fiber.cancelled = true;
    if (fiber.park != nullptr && fiber.shields == 0)
        fiber.park->wake();
}

}  // namespace

// The function that the core runs on a fresh stack.
struct FiberMain {
    static void* run(void* argument) {
        const std::unique_ptr<Fiber> fiber(static_cast<Fiber*>(argument));
        fiber->body(Deadline::never());
        fiber->body = nullptr;
        st::LoopState& state = st::loop_state();
        state.watch.end_run(fiber.get());
        unlink_from_loop(state, *fiber);
        fiber->scope->leave(*fiber);
        // The record is detached before the thread ends.
        st::LoopState::set_fiber(fiber->thread, nullptr);
        return nullptr;
    }
};

Result<void> Scope::start(std::string_view fiber_name, std::function<void(Deadline)> body) {
    st::LoopState& state = st::loop_state();
    if (stopping_)
        return Error(Errc::cancelled, "scope " + name_ + " is being stopped");
    if (state.fiber_count >= state.fibers_max)
        return Error(Errc::limit, "the process runs as many fibers as it may");
    auto fiber = std::make_unique<Fiber>(std::string(fiber_name));
    fiber->body = std::move(body);
    fiber->id = state.next_fiber_id++;
    fiber->started = now();
    fiber->thread = st_thread_create(&FiberMain::run, fiber.get(), 0, static_cast<int>(state.stack_bytes));
    if (fiber->thread == nullptr)
        return Error(Errc::limit, "no memory for another fiber's stack: " + system_error("mmap", errno).sentence());
    st::LoopState::set_fiber(fiber->thread, fiber.get());
    link_to_loop(state, *fiber);
    // From here on the fiber owns its record; FiberMain::run takes it back.
    enter(*fiber.release());
    return {};
}

void Scope::enter(Fiber& fiber) {
    fiber.scope = this;
    fiber.scope_name = name_;
    fiber.next_in_scope = first_;
    if (first_ != nullptr)
        first_->previous_in_scope = &fiber;
    first_ = &fiber;
    ++size_;
}

void Scope::leave(Fiber& fiber) {
    if (fiber.previous_in_scope != nullptr)
        fiber.previous_in_scope->next_in_scope = fiber.next_in_scope;
    else
        first_ = fiber.next_in_scope;
    if (fiber.next_in_scope != nullptr)
        fiber.next_in_scope->previous_in_scope = fiber.previous_in_scope;
    if (--size_ == 0)
        empty_.raise();
}

void Scope::cancel() {
    for (Fiber* fiber = first_; fiber != nullptr; fiber = fiber->next_in_scope)
        cancel_fiber(*fiber);
}

void Scope::cancel(std::uint64_t id) {
    for (Fiber* fiber = first_; fiber != nullptr; fiber = fiber->next_in_scope)
        if (fiber->id == id)
            return cancel_fiber(*fiber);
}

Result<void> Scope::stop(Deadline deadline) {
    stopping_ = true;
    if (size_ == 0)
        return {};
    CHECK(st::loop_state().current()->scope != this);
    const CancelShield shield;
    cancel();
    return join(deadline);
}

Result<void> Scope::join(Deadline deadline) {
    while (size_ > 0) {
        const auto joined = wait(empty_, deadline);
        if (!joined.ok() && size_ > 0)
            return joined.error().code() == Errc::timed_out
                       ? Error(Errc::timed_out,
                               std::to_string(size_) + " fibers of scope " + name_ + " still run, one is " + first_->name)
                       : Error(joined.error());
    }
    return {};
}

Result<void> stop_all(std::initializer_list<Scope*> scopes, Deadline deadline) {
    Result<void> first;
    for (Scope* scope : scopes)
        if (auto stopped = scope->stop(deadline); first.ok())
            first = std::move(stopped);
    return first;
}

}  // namespace live::io
