#include "api/system/machine_record.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace live::api {

namespace {

constexpr double kLagShare = 0.99;

float kbps(std::uint64_t before, std::uint64_t after, double seconds) {
    return static_cast<float>(static_cast<double>(after - std::min(before, after)) * 8 / 1000 / seconds);
}

}  // namespace

double bound_of_share(std::span<const std::uint64_t> counts, std::span<const double> bounds, double share) {
    const auto all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    if (all == 0)
        return 0;
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        passed += counts[i];
        if (static_cast<double>(passed) >= share * static_cast<double>(all))
            return bounds[i];
    }
    return bounds.back();
}

void MachineRecord::add(TimePoint now, const SystemFigures& figures, const LagCounts& lag) {
    Last current{now, figures.totals.received_bytes, figures.totals.sent_bytes, lag};
    if (!last_) {
        last_ = current;
        return;
    }
    const double seconds = std::chrono::duration<double>(now - last_->at).count();
    if (seconds < 1 || !history_.is_due(now))
        return;
    LagCounts turns = lag;
    for (std::size_t i = 0; i < turns.size(); ++i)
        turns[i] -= std::min(turns[i], last_->lag[i]);
    MachinePoint point;
    point.received_kbps = kbps(last_->received_bytes, current.received_bytes, seconds);
    point.sent_kbps = kbps(last_->sent_bytes, current.sent_bytes, seconds);
    point.cpu_share = static_cast<float>(figures.self_cpu_share);
    point.machine_cpu_share = static_cast<float>(figures.cpu_share);
    point.lag_seconds = static_cast<float>(bound_of_share(turns, io::LoopWatch::kLagBounds, kLagShare));
    point.connections = static_cast<std::uint32_t>(figures.totals.connections);
    point.resident_bytes =
        static_cast<std::uint64_t>(figures.resident_share * static_cast<double>(figures.memory.total_kbyte) * 1024);
    history_.add(service::stats::slot_of(now), point);
    last_ = current;
}

}  // namespace live::api
