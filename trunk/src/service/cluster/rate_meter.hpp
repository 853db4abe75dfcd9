// RateMeter: bytes per second from a total that only grows, smoothed over some seconds. Pure.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace live::service::cluster {

class RateMeter {
public:
    // Readings closer together than this are ignored.
    static constexpr std::chrono::milliseconds kStep{500};

    void note(std::uint64_t total, TimePoint now) {
        const Duration passed = now - at_;
        if (at_ != TimePoint() && passed < kStep)
            return;
        if (at_ != TimePoint() && total >= total_) {
            const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
            const double rate = 1'000.0 * static_cast<double>(total - total_) / static_cast<double>(ms);
            // A rise counts more than a fall: a burst of players soon becomes load.
            rate_ += (rate > rate_ ? 0.7 : 0.3) * (rate - rate_);
        }
        total_ = total;
        at_ = now;
    }
    std::uint64_t per_second() const { return static_cast<std::uint64_t>(rate_); }

private:
    std::uint64_t total_ = 0;
    TimePoint at_{};
    double rate_ = 0;
};

}  // namespace live::service::cluster
