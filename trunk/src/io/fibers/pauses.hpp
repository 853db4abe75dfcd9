// Pauses: when the loop did not run lately. Dry; see pause.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.hpp"

namespace live::io {

class Pauses {
public:
    // A busy machine delays every process a little.
    static constexpr std::chrono::milliseconds kMin{500};
    // Older ones are forgotten.
    static constexpr std::size_t kKept = 16;

    // In the order of time.
    void add(TimePoint begin, TimePoint end) {
        kept_[count_++ % kKept] = {begin, end};
        last_end_ = end;
    }
    std::uint64_t count() const { return count_; }
    // The length of the last pause.
    Duration last_length() const { return count_ == 0 ? Duration{} : last().end - last().begin; }
    // Moves the start of a silence forward by the time since then in which the process did not run.
    TimePoint silence_from(TimePoint heard) const { return last_end_ <= heard ? heard : heard + within(heard); }

private:
    struct Pause {
        TimePoint begin;
        TimePoint end;
    };

    const Pause& last() const { return kept_[(count_ - 1) % kKept]; }
    Duration within(TimePoint from) const {
        Duration sum{};
        for (const Pause& pause : std::span(kept_).first(std::min<std::size_t>(count_, kKept)))
            if (pause.end > from)
                sum += pause.end - std::max(pause.begin, from);
        return sum;
    }

    std::array<Pause, kKept> kept_{};
    std::uint64_t count_ = 0;
    TimePoint last_end_ = TimePoint::min();
};

}  // namespace live::io
