#include "service/stats/rate_window.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace live::service::stats {

namespace {

std::uint32_t gain(std::uint64_t before, std::uint64_t after) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(after - std::min(before, after), kMost));
}

}  // namespace

void RateWindow::add(TimePoint now, std::uint64_t first, std::uint64_t second) {
    using std::chrono::milliseconds;
    const auto past = std::chrono::duration_cast<milliseconds>(now - last_);
    if (begun_ && past < milliseconds(1))
        return;
    if (begun_) {
        steps_[next_] = {static_cast<std::uint32_t>(past.count()), gain(first_, first), gain(second_, second)};
        next_ = (next_ + 1) % kReadings;
    }
    begun_ = true;
    last_ = now;
    first_ = first;
    second_ = second;
}

RateWindow::Gain RateWindow::per_second() const {
    double milliseconds = 0;
    Gain sum;
    for (const Step& step : steps_) {
        milliseconds += step.milliseconds;
        sum.first += step.first;
        sum.second += step.second;
    }
    if (milliseconds <= 0)
        return {};
    constexpr double kMillisecondsPerSecond = 1000;
    return {sum.first * kMillisecondsPerSecond / milliseconds, sum.second * kMillisecondsPerSecond / milliseconds};
}

std::int64_t kbps(double bytes_per_second) { return std::llround(bytes_per_second * 8 / 1000); }

}  // namespace live::service::stats
