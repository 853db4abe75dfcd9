// The sending half of transport-wide feedback: estimates the capacity of the link to one player from departure and arrival times.
// The rate doubles until the link shows a queue or loss, then falls below the received rate, and rises again.
//
// A queue shows as delay above the base delay of the last seconds, so the clocks need no common zero and may drift slightly.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/ring_queue.hpp"
#include "base/time.hpp"
#include "wire/rtcp/transport_feedback.hpp"
#include "wire/rtp/sequence.hpp"

namespace live::engine::rtp {

class BandwidthEstimator {
public:
    static constexpr std::size_t kSentMax = 4'096;  // packets not yet reported; the oldest are dropped
    // After this time without a sign of the limit, the rate may double again.
    static constexpr std::chrono::seconds kLimitMemory{5};

    struct Options {
        std::uint64_t start = 500'000;  // bits per second, like all rates here
        std::uint64_t min = 50'000;
        std::uint64_t max = 50'000'000;
        std::chrono::milliseconds queue_high = 50ms;  // above it the link is overused
        std::chrono::milliseconds queue_low = 20ms;   // below it the rate may rise
        double loss_high = 0.1;                       // random loss below it is left to retransmission
    };

    explicit BandwidthEstimator(Options options) : options_(options), rate_(static_cast<double>(options.start)) {}

    // Call for each packet sent, with the number in its header extension, which increments by one.
    void sent(TimePoint now, std::uint16_t sequence, std::size_t bytes);
    // A report from the player. Ignored if it covers no packet that was sent.
    void reported(TimePoint now, const wire::rtcp::ArrivalReport& arrivals);

    std::uint64_t rate() const { return static_cast<std::uint64_t>(rate_); }
    // The queue in the last report; the loss over about the last hundred packets since the rate was lowered.
    std::chrono::microseconds queue() const { return queue_; }
    double loss() const { return loss_; }
    // Returns the time from sending a packet to its report; zero before the first report.
    std::chrono::microseconds round_trip() const { return round_trip_; }
    std::size_t in_flight() const { return sent_.size(); }
    // The link has shown its limit: the rate is more than a lower bound.
    bool has_met_limit() const { return decreased_.has_value(); }
    // How often the link has shown its limit.
    std::uint64_t limits_met() const { return limits_met_; }
    // Bits per second over the last half second that the player has reported; zero while unknown.
    std::uint64_t received() const { return static_cast<std::uint64_t>(received_rate()); }
    // Memory besides the object itself.
    std::size_t held_bytes() const { return sent_.held_bytes() + arrivals_.held_bytes() + base_delays_.held_bytes(); }

private:
    // One for each packet in flight to a player, and for each of the last half second.
    struct Sent {
        TimePoint at;
        std::uint32_t sequence;  // the low bits
        std::uint32_t bytes;
    };
    struct Arrival {
        std::uint32_t at_us;  // on the player's clock, the low bits only
        std::uint32_t bytes;
    };
    struct BaseDelay {
        TimePoint at;
        std::chrono::microseconds delay;
    };
    struct Report {
        std::size_t arrived = 0;
        std::size_t lost = 0;
        std::chrono::microseconds delay = std::chrono::microseconds::max();  // the minimum of this report, across the two clocks
    };

    Report match(TimePoint now, const wire::rtcp::ArrivalReport& arrivals);
    std::optional<Sent> take(std::uint32_t sequence);
    std::chrono::microseconds base_delay(TimePoint now, std::chrono::microseconds delay);
    double received_rate() const;
    void adapt(TimePoint now);

    Options options_;
    RingQueue<Sent> sent_;
    RingQueue<Arrival> arrivals_;       // of the last kRateWindow
    std::size_t arrived_bytes_ = 0;     // their sum
    RingQueue<BaseDelay> base_delays_;  // candidates for the base delay, ascending
    wire::rtp::SequenceUnwrapper unwrapper_;
    double rate_;
    double carried_ = 0;  // the received rate when the link last had a queue
    double loss_ = 0;
    bool is_draining_ = false;
    std::chrono::microseconds queue_{0};
    std::chrono::microseconds round_trip_{0};
    std::optional<TimePoint> adapted_;
    std::optional<TimePoint> decreased_;
    std::uint64_t limits_met_ = 0;
};

}  // namespace live::engine::rtp
