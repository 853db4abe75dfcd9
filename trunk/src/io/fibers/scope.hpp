// A Scope owns fibers: it starts them, and its owner stops them. A fiber that returns by itself leaves the scope; no join is
// needed. Destroying a scope with a running fiber is a bug and aborts, so no fiber outlives what it works for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"

namespace live::io {

struct Fiber;

class Scope {
public:
    explicit Scope(std::string name) : name_(std::move(name)) {}
    ~Scope() { CHECK(size_ == 0); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    // Starts a fiber; it first runs when the caller suspends. `body` gets Deadline::never() and is destroyed, with its captures,
    // before the fiber leaves the scope. Errc::limit when there are too many fibers or no memory for a stack, Errc::cancelled
    // when the scope is being stopped.
    Result<void> start(std::string_view fiber_name, std::function<void(Deadline)> body);

    // Fibers that have not returned yet.
    std::size_t size() const { return size_; }
    const std::string& name() const { return name_; }

    // Cancels every fiber: its current wait, and every later one outside a CancelShield, ends with Errc::cancelled. Does not
    // wait.
    void cancel();

    // The same for one of them: see fiber_id(). No effect when it has returned. The newest is found first.
    void cancel(std::uint64_t fiber);

    // Cancels every fiber and waits until all have returned. Errc::timed_out names one that has not. A cancel of the calling
    // fiber does not cut this short; the deadline does. Must not be called from a fiber of this scope. Afterwards nothing can be
    // started.
    Result<void> stop(Deadline deadline);

    // Waits until all fibers have returned by themselves. Errc::timed_out, Errc::cancelled.
    Result<void> join(Deadline deadline);

private:
    friend struct FiberMain;
    void enter(Fiber& fiber);
    void leave(Fiber& fiber);

    std::string name_;
    Signal empty_;
    Fiber* first_ = nullptr;
    std::size_t size_ = 0;
    bool stopping_ = false;
};

// Stops all of them, in that order, even if some fail. Returns the first error.
Result<void> stop_all(std::initializer_list<Scope*> scopes, Deadline deadline);

}  // namespace live::io
