#include "service/hls/program_dates.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace live::service::hls {

namespace {

std::chrono::milliseconds in_ms(MediaTime time) { return std::chrono::floor<std::chrono::milliseconds>(time); }

}  // namespace

UtcTime ProgramDates::begin_segment(MediaTime at, UtcTime now) {
    const UtcTime zero = now - in_ms(at);
    if (std::exchange(is_fresh_, false) || changes_.empty() || std::chrono::abs(changes_.back().zero - zero) > kDriftMax)
        set_zero(at, zero);
    return changes_.back().zero;
}

void ProgramDates::set_zero(MediaTime at, UtcTime zero) {
    while (!changes_.empty() && changes_.back().at >= at)
        changes_.pop_back();
    if (!changes_.empty() && changes_.back().zero == zero)
        return;
    changes_.push_back({at, zero});
    if (changes_.size() > kChangesMax)
        changes_.pop_front();
}

void ProgramDates::begin_timeline(MediaTime at) {
    while (changes_.size() > 1 && changes_[1].at <= at)
        changes_.pop_front();
}

std::optional<UtcTime> ProgramDates::date_of(MediaTime start) const {
    if (changes_.empty())
        return std::nullopt;
    const auto is_in_force = [start](const Change& change) { return change.at <= start; };
    const auto newest = std::find_if(changes_.rbegin(), changes_.rend(), is_in_force);
    return (newest == changes_.rend() ? changes_.front() : *newest).zero + in_ms(start);
}

}  // namespace live::service::hls
