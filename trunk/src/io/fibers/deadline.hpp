// A Deadline is the point in time at which a wait gives up. A function takes one if and only if it may suspend its fiber, so the
// call site shows where the world may change; "no limit" has to be written out as Deadline::never().
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace live::io {

// The loop's clock: monotonic, read once per turn of the loop. Without a loop, the steady clock itself.
TimePoint now();

class Deadline {
public:
    // Counted from the steady clock, not from now(), so a long turn does not shorten it.
    static Deadline after(std::chrono::nanoseconds duration) {
        return Deadline(std::chrono::steady_clock::now() + std::chrono::duration_cast<Duration>(duration));
    }
    static Deadline at(TimePoint when) { return Deadline(when); }
    static Deadline never() { return Deadline(TimePoint::max()); }

    bool is_never() const { return when_ == TimePoint::max(); }
    bool expired() const { return !is_never() && when_ <= std::chrono::steady_clock::now(); }
    TimePoint when() const { return when_; }
    Deadline sooner(Deadline other) const { return Deadline(std::min(when_, other.when_)); }

private:
    explicit Deadline(TimePoint when) : when_(when) {}

    TimePoint when_;
};

}  // namespace live::io
