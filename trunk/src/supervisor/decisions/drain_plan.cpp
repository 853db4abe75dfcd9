#include "supervisor/decisions/drain_plan.hpp"

#include <algorithm>
#include <utility>

namespace live::supervisor {

using std::chrono::milliseconds;

std::size_t ending_now(std::size_t sessions, milliseconds left, milliseconds limit) {
    if (left > limit / DrainPlan::kLastPart)
        return 0;
    const auto steps = static_cast<std::size_t>(std::max<milliseconds::rep>(left / DrainPlan::kStep, 1));
    return (sessions + steps - 1) / steps;
}

void DrainPlan::begin(milliseconds limit, TimePoint now) {
    has_begun_ = true;
    since_ = now;
    limit_ = limit;
}

void DrainPlan::begin_step() {
    seen_.clear();
    asked_in_step_ = 0;
}

DrainPlan::Verdict DrainPlan::consider(const std::string& id, Way way) {
    if (asked_.contains(id)) {
        seen_.insert(id);
        return Verdict::nothing;
    }
    if (way == Way::end)
        return Verdict::end;
    return asked_in_step_ < kAskedAtOnce ? Verdict::ask : Verdict::nothing;
}

void DrainPlan::note_asked(const std::string& id) {
    ++asked_in_step_;
    ++asked_total_;
    seen_.insert(id);
}

std::size_t DrainPlan::sessions_to_end(std::size_t sessions, TimePoint now) const {
    return std::min(sessions, ending_now(sessions, limit_ - lasted(now), limit_));
}

void DrainPlan::end_step() { std::swap(asked_, seen_); }

milliseconds DrainPlan::lasted(TimePoint now) const {
    return has_begun_ ? std::chrono::duration_cast<milliseconds>(now - since_) : milliseconds{};
}

}  // namespace live::supervisor
