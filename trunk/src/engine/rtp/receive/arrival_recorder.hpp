// The receiving half of transport-wide feedback: records when each packet of a session arrived, and reports it to the sender at
// regular intervals (draft-holmer-rmcat-transport-wide-cc-extensions-01).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/time.hpp"
#include "wire/rtcp/transport_feedback.hpp"
#include "wire/rtp/sequence.hpp"

namespace live::engine::rtp {

class ArrivalRecorder {
public:
    // Packets between two reports. Beyond that, or after a larger jump of the numbers, the oldest are not reported.
    static constexpr std::size_t kPacketsMax = wire::rtcp::kFeedbackPacketsMax;

    explicit ArrivalRecorder(std::chrono::milliseconds interval = 100ms) : interval_(interval) {}

    // `sequence` is the number in the packet's header extension.
    void received(TimePoint now, std::uint16_t sequence);
    // A report, if one is due and there is something to report. Call until there is none: arrivals too far apart for one report
    // are split into several. `ssrc` is ours, `media_ssrc` any stream of the sender.
    std::optional<wire::rtcp::TransportFeedback> poll(TimePoint now, std::uint32_t ssrc, std::uint32_t media_ssrc);
    std::optional<TimePoint> next_timeout() const;
    std::size_t waiting() const { return arrivals_.size(); }

private:
    std::map<std::uint64_t, TimePoint> arrivals_;  // not reported yet
    wire::rtp::SequenceUnwrapper unwrapper_;
    std::optional<std::uint64_t> next_;  // the first number not reported
    std::optional<TimePoint> due_;
    std::chrono::milliseconds interval_;
    std::uint8_t reports_ = 0;
};

}  // namespace live::engine::rtp
