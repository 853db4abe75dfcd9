// ReportedLink: the link to a player that sends no transport-wide feedback, for LayerSelector: by REMB if the player sends it,
// and by the loss in its receiver reports (draft-ietf-rmcat-gcc-02, 6). Dry.
//
// Until there is loss, nothing is known about the link. Loss that persists is a limit: the rate falls to what has arrived. After
// a time without loss a better layer may be tried, and after each limit that follows a try, that time doubles.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "engine/rtp/send/layer_selector.hpp"

namespace live::engine::rtp {

class ReportedLink {
public:
    // Loss above kLossHigh for kOverMax is a limit; loss above kLossLow delays a rise.
    static constexpr double kLossHigh = 0.1;
    static constexpr double kLossLow = 0.02;
    static constexpr std::chrono::seconds kOverMax{2};
    // Loss this soon after a limit is still caused by the layer that was too large.
    static constexpr std::chrono::seconds kSameLimit{6};
    // How long the link must be without loss before a better layer is tried: until the first limit, and after one.
    static constexpr std::chrono::seconds kClearFirst{4};
    static constexpr std::chrono::seconds kClearMin{10};
    static constexpr std::chrono::seconds kClearMax{120};
    // A limit after a longer time without one is a new one: the time to the next try is short again.
    static constexpr std::chrono::minutes kLimitMemory{5};
    // An older REMB is ignored.
    static constexpr std::chrono::seconds kRembMax{10};
    // The sent rate is measured over this time at least.
    static constexpr std::chrono::milliseconds kMeasured{500};

    // A receiver report about the video. `loss` is its fraction lost, `sent_bytes` all bytes that the player was sent so far.
    void reported(TimePoint now, double loss, std::uint64_t sent_bytes);
    // A REMB message, in bits per second.
    void estimated(TimePoint now, std::uint64_t rate, std::uint64_t sent_bytes);

    // Without reports until there is loss or REMB: the player gets the best layer. `has_rtx`: padding can be sent. It is of use
    // with REMB only.
    LinkState state(TimePoint now, bool has_rtx) const;
    // The estimate in bits per second; zero while the link has shown no limit.
    std::uint64_t rate(TimePoint now) const;

private:
    struct Limit {
        enum class By : std::uint8_t { loss, remb } by;
        std::uint64_t rate;
    };

    void measure(TimePoint now, std::uint64_t sent_bytes);
    void meet_limit(TimePoint now, Limit::By by, std::uint64_t rate);
    // Neither a limit nor loss for long enough.
    bool is_clear(TimePoint now) const;
    std::uint64_t limit_by_loss() const;
    bool has_remb(TimePoint now) const { return remb_at_ && now - *remb_at_ <= kRembMax; }
    std::uint64_t received() const;
    std::uint64_t limit(TimePoint now) const;  // UINT64_MAX without one

    std::optional<TimePoint> reported_at_;
    std::optional<TimePoint> over_since_;  // loss above kLossHigh
    std::optional<TimePoint> lossy_at_;    // the newest report with loss above kLossLow
    double loss_ = 0;                      // of the newest report
    std::optional<TimePoint> remb_at_;
    std::uint64_t remb_ = 0;
    std::optional<TimePoint> measured_at_;
    std::uint64_t measured_bytes_ = 0;
    std::uint64_t sent_rate_ = 0;
    std::uint64_t carried_ = 0;   // without loss, in the newest such report
    std::optional<Limit> limit_;  // until the link was clear
    std::optional<TimePoint> met_at_;
    std::uint64_t limits_met_ = 0;
    std::chrono::seconds clear_ = kClearFirst;
};

}  // namespace live::engine::rtp
