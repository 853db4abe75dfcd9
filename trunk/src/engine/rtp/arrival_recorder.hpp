// The receiving half of transport-wide feedback: writes down when each packet of a session came, and tells the sender about it at
// even distances (draft-holmer-rmcat-transport-wide-cc-extensions-01).
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
    // Packets between two reports. More of them, or a jump of the numbers by more, and the oldest are not told about.
    static constexpr std::size_t kPacketsMax = wire::rtcp::kFeedbackPacketsMax;

    explicit ArrivalRecorder(std::chrono::milliseconds interval = 100ms) : interval_(interval) {}

    // By the number in the packet's header extension.
    void received(TimePoint now, std::uint16_t sequence);
    // A report when it is time for one and there is something to tell. Call until there is none: arrivals too far apart for one
    // report are told in several. `ssrc` is ours, `media_ssrc` any stream of the sender.
    std::optional<wire::rtcp::TransportFeedback> poll(TimePoint now, std::uint32_t ssrc, std::uint32_t media_ssrc);
    std::optional<TimePoint> next_timeout() const;
    std::size_t waiting() const { return arrivals_.size(); }

private:
    std::map<std::uint64_t, TimePoint> arrivals_;  // not told yet
    wire::rtp::SequenceUnwrapper unwrapper_;
    std::optional<std::uint64_t> next_;  // the first number not told about
    std::optional<TimePoint> due_;
    std::chrono::milliseconds interval_;
    std::uint8_t reports_ = 0;
};

}  // namespace live::engine::rtp
