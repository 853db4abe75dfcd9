#include "engine/rtp/send/reported_link.hpp"

#include <algorithm>

namespace live::engine::rtp {

namespace {

// A limit is below what was sent. Above what arrived without loss before, the link carries this much more at least.
constexpr double kBelowSent = 0.8;
constexpr double kAboveCarried = 1.2;

std::uint64_t part_of(std::uint64_t rate, double part) { return static_cast<std::uint64_t>(static_cast<double>(rate) * part); }

}  // namespace

void ReportedLink::measure(TimePoint now, std::uint64_t sent_bytes) {
    if (measured_at_ && now - *measured_at_ < kMeasured)
        return;
    if (measured_at_ && sent_bytes >= measured_bytes_) {
        const std::chrono::duration<double> passed = now - *measured_at_;
        sent_rate_ = static_cast<std::uint64_t>(static_cast<double>(sent_bytes - measured_bytes_) * 8 / passed.count());
    }
    measured_at_ = now;
    measured_bytes_ = sent_bytes;
}

void ReportedLink::reported(TimePoint now, double loss, std::uint64_t sent_bytes) {
    const TimePoint before = reported_at_.value_or(now);
    reported_at_ = now;
    loss_ = loss;
    measure(now, sent_bytes);
    if (is_clear(now))
        limit_.reset();
    if (loss > kLossLow)
        lossy_at_ = now;
    else
        carried_ = received();
    if (loss <= kLossHigh) {
        over_since_.reset();
        return;
    }
    // The report covers the time since the one before it.
    if (!over_since_)
        over_since_ = before;
    if (now - *over_since_ < kOverMax)
        return;
    over_since_.reset();
    meet_limit(now, Limit::By::loss, limit_by_loss());
}

// The report may cover some time before a rise, for which the rate that arrived then is a better measure.
std::uint64_t ReportedLink::limit_by_loss() const {
    const std::uint64_t carried = part_of(carried_, kAboveCarried);
    return std::min(part_of(sent_rate_, kBelowSent), carried < sent_rate_ ? std::max(received(), carried) : received());
}

void ReportedLink::meet_limit(TimePoint now, Limit::By by, std::uint64_t rate) {
    if (!met_at_ || now - *met_at_ > kLimitMemory)
        clear_ = kClearMin;
    else if (now - *met_at_ > kSameLimit)
        clear_ = std::min(2 * clear_, kClearMax);
    met_at_ = now;
    limit_ = Limit{by, rate};
    ++limits_met_;
}

bool ReportedLink::is_clear(TimePoint now) const {
    return !met_at_ || now - std::max(*met_at_, lossy_at_.value_or(*met_at_)) >= clear_;
}

// An estimate grows with what is sent, by little: a low one is no limit, but one that falls is.
void ReportedLink::estimated(TimePoint now, std::uint64_t rate, std::uint64_t sent_bytes) {
    measure(now, sent_bytes);
    const bool falls = has_remb(now) && rate < remb_ - remb_ / 16 && rate < sent_rate_;
    remb_ = rate;
    remb_at_ = now;
    if (falls)
        meet_limit(now, Limit::By::remb, rate);
}

std::uint64_t ReportedLink::received() const { return part_of(sent_rate_, 1 - std::clamp(loss_, 0.0, 1.0)); }

std::uint64_t ReportedLink::limit(TimePoint now) const { return limit_ && !is_clear(now) ? limit_->rate : UINT64_MAX; }

std::uint64_t ReportedLink::rate(TimePoint now) const {
    const std::uint64_t known = std::min(limit(now), has_remb(now) ? remb_ : UINT64_MAX);
    return known == UINT64_MAX ? 0 : known;
}

LinkState ReportedLink::state(TimePoint now, bool has_rtx) const {
    using enum LinkState::Reports;
    if (!lossy_at_ && !has_remb(now))
        return {.reports = none};
    const bool may_pad = has_rtx && has_remb(now);
    const bool is_by_remb = limit_ && limit_->by == Limit::By::remb;
    // Padding makes the estimate grow.
    const std::uint64_t rate = !may_pad ? limit(now) : is_by_remb ? remb_ : std::min(remb_, limit(now));
    return {.reports = arrived,
            .rate = rate,
            .received = std::min(received(), rate),
            .limits_met = limits_met_,
            .may_pad = may_pad,
            .clear_min = clear_,
            .lossy_at = lossy_at_.value_or(TimePoint())};
}

}  // namespace live::engine::rtp
