// Backoff: the delay before the next retry. It doubles from a first delay up to a maximum, plus random jitter so that clients
// that lost the same peer do not all reconnect at once. Dry: the caller supplies the random number; nothing sleeps here.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace live {

class Backoff {
public:
    // The jitter is up to a quarter of the delay.
    static constexpr std::int64_t kJitterParts = 4;

    Backoff(std::chrono::milliseconds first, std::chrono::milliseconds greatest)
        : first_(first), greatest_(greatest), next_(first) {}

    // The next delay. `random` must be uniformly distributed over all values.
    std::chrono::milliseconds next(std::uint32_t random) {
        const std::chrono::milliseconds delay = next_;
        next_ = std::min(next_ * 2, greatest_);
        const std::int64_t jitter_max = delay.count() / kJitterParts;
        return delay + std::chrono::milliseconds(jitter_max * random / UINT32_MAX);
    }
    // Call on success: the next failure starts at the first delay again.
    void reset() { next_ = first_; }

private:
    std::chrono::milliseconds first_;
    std::chrono::milliseconds greatest_;
    std::chrono::milliseconds next_;
};

}  // namespace live
