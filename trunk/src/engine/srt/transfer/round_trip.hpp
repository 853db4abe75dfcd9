// Times of a connection are microseconds since it began. RoundTrip estimates the round-trip time and its variance
// (draft-sharabayko-srt-01, 4.10).
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace live::engine::srt {

using Micros = std::chrono::microseconds;

class RoundTrip {
public:
    // The maximum accepted of a peer's report.
    static constexpr Micros kMax = std::chrono::seconds(60);
    // The shortest interval between two retransmissions of a packet, whatever round trip the peer reports.
    static constexpr Micros kResendMin{10'000};

    Micros estimate() const { return time_; }
    Micros variance() const { return variance_; }

    // Our own measurement; the first one replaces the initial 100 ms.
    void add(Micros sample) {
        sample = std::clamp(sample, Micros(1), kMax);
        if (!is_measured_) {
            is_measured_ = true;
            time_ = sample;
            variance_ = sample / 2;
            return;
        }
        smooth(sample);
    }
    // The peer's measurement, for an end that only sends. Our own measurements are better.
    void add_reported(Micros sample) {
        if (!is_measured_ && sample > Micros(0))
            smooth(std::min(sample, kMax));
    }

    // Adds the time of one answer. A shorter time reported by the peer does not count. A late answer counts little.
    void add_bound(Micros sample) {
        sample = std::clamp(sample, Micros(0), kMax);
        bound_ = bound_ && sample > *bound_ ? *bound_ + (sample - *bound_) / 16 : sample;
    }

    Micros nak_interval() const { return std::max((time_ + 4 * variance_) / 2, Micros(20'000)); }
    // For packets that were requested during a whole round trip: a sender that retransmits once a round trip obeys the first NAK
    // after it, and little time is lost.
    Micros late_nak_interval() const { return std::max(time_ / 5, Micros(10'000)); }
    // A NAK this long after a retransmission reports its loss; an earlier one may have crossed it.
    Micros resend_interval() const {
        const Micros time = std::max(time_, bound_.value_or(Micros(0)));
        return std::max({time - 4 * variance_, time / 2, kResendMin});
    }
    Micros patience() const { return time_ + 4 * variance_; }

private:
    void smooth(Micros sample) {
        variance_ = (3 * variance_ + Micros(std::chrono::abs(time_ - sample))) / 4;
        time_ = (7 * time_ + sample) / 8;
    }

    Micros time_{100'000};
    Micros variance_{50'000};
    bool is_measured_ = false;
    std::optional<Micros> bound_;
};

}  // namespace live::engine::srt
