// Backoff: how long to wait before trying again. Doubles from a first delay to a greatest one, with some randomness on top so
// that many who lost the same peer do not come back in the same moment. Dry: the random number is handed in, nothing sleeps here.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace live {

class Backoff {
public:
    // On top of a delay comes up to a quarter of it.
    static constexpr std::int64_t kJitterParts = 4;

    Backoff(std::chrono::milliseconds first, std::chrono::milliseconds greatest)
        : first_(first), greatest_(greatest), next_(first) {}

    // The next delay; `random` is any number, all of its values equally likely.
    std::chrono::milliseconds next(std::uint32_t random) {
        const std::chrono::milliseconds delay = next_;
        next_ = std::min(next_ * 2, greatest_);
        const std::int64_t jitter_max = delay.count() / kJitterParts;
        return delay + std::chrono::milliseconds(jitter_max * random / UINT32_MAX);
    }
    // It went well: the next trouble starts small again.
    void reset() { next_ = first_; }

private:
    std::chrono::milliseconds first_;
    std::chrono::milliseconds greatest_;
    std::chrono::milliseconds next_;
};

}  // namespace live
