// When a packet is due for delivery (draft-sharabayko-srt-01, 4.5 and 4.7): its timestamp, moved to our clock, plus the agreed
// latency. Widens timestamps, and follows the drift of the peer's clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/srt/transfer/round_trip.hpp"
#include "engine/srt/transfer/sequence.hpp"

namespace live::engine::srt {

class DeliveryClock {
public:
    static constexpr unsigned kDriftSamples = 1'000;
    // A sample further from the last correction than this is a jump of the peer, or an attack, and is ignored.
    static constexpr Micros kDriftSampleMax = std::chrono::seconds(5);

    // `timestamp` was written by the peer at the moment that is `arrived` here.
    DeliveryClock(Micros arrived, std::uint32_t timestamp, Micros latency) : latency_(latency) { restart(arrived, timestamp); }

    void restart(Micros arrived, std::uint32_t timestamp) {
        newest_ = timestamp;
        base_ = arrived - Micros(timestamp);
        drift_ = {};
        samples_ = 0;
        sum_ = {};
        has_round_trip_ = false;
    }
    void set_latency(Micros latency) { latency_ = latency; }
    Micros latency() const { return latency_; }
    Micros drift() const { return drift_; }

    // Converts the timestamp of a packet from the peer to a number that does not wrap.
    Micros widen(std::uint32_t timestamp) {
        const std::int64_t wide = widen_timestamp(timestamp, newest_);
        newest_ = std::max(newest_, wide);
        return Micros(wide);
    }
    Micros due_at(Micros widened) const { return base_ + drift_ + widened + latency_; }

    // Adds a sample of the clock drift from an ACKACK. The peer sends it at once, so the round trip gives its travel time.
    // Averages over kDriftSamples, so that jitter has no effect.
    void add_sample(Micros now, std::uint32_t timestamp, Micros round_trip) {
        if (!has_round_trip_) {
            has_round_trip_ = true;
            first_round_trip_ = round_trip;
        }
        const Micros sample = now - (base_ + widen(timestamp)) - (round_trip - first_round_trip_) / 2;
        if (std::chrono::abs(sample - drift_) > kDriftSampleMax)
            return;
        sum_ += sample;
        if (++samples_ < kDriftSamples)
            return;
        drift_ = sum_ / kDriftSamples;
        samples_ = 0;
        sum_ = {};
    }

private:
    Micros base_{};
    Micros latency_;
    Micros drift_{};
    Micros sum_{};
    unsigned samples_ = 0;
    std::int64_t newest_ = 0;
    Micros first_round_trip_{};
    bool has_round_trip_ = false;
};

}  // namespace live::engine::srt
