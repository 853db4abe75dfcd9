// Receiver report statistics of one RTP stream: packets received and expected, and jitter (RFC 3550, 6.4.1, A.1, A.3, A.8). It
// also widens the stream's sequence numbers and detects restarts.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtp/sequence.hpp"

namespace live::engine::rtp {

class Reception {
public:
    // RFC 3550, A.1: a larger step, either way, is accepted when the next packet follows it. kBehindMax is how far back a packet
    // retransmitted under its own number may be.
    static constexpr std::uint64_t kAheadMax = 3'000;
    static constexpr std::uint64_t kBehindMax = 2'048;

    explicit Reception(std::uint32_t clock_rate) : clock_rate_(clock_rate) {}

    struct Number {
        std::uint64_t sequence = 0;  // widened; the low 16 bits are those of the packet
        bool has_restarted = false;  // the stream restarted: nothing before it belongs to it
    };
    // Call for each packet under the stream's own SSRC. Nothing if its number is implausible: drop it.
    std::optional<Number> received(TimePoint now, std::uint16_t sequence, std::uint32_t timestamp);
    // Widens the number of an RTX packet, which does not count as received (RFC 4588, 6.3 leaves that to the RTX stream).
    std::uint64_t widen(std::uint16_t sequence) const { return base_ + unwrapper_.peek(sequence); }

    // The highest number so far.
    std::uint64_t highest() const { return highest_; }

    // Covers the time since the last call; the caller sets ssrc, last_sender_report and delay_since.
    wire::rtcp::ReportBlock report();

    std::int64_t lost() const { return expected() - static_cast<std::int64_t>(received_); }
    double fraction_lost() const { return fraction_lost_; }  // of the last report
    std::chrono::microseconds jitter() const;

private:
    std::int64_t expected() const { return first_ ? static_cast<std::int64_t>(highest_ - *first_ + 1) : 0; }
    void count_jitter(TimePoint now, std::uint32_t timestamp);

    wire::rtp::SequenceUnwrapper unwrapper_;
    std::uint64_t base_ = 0;  // added to the unwrapped number; a multiple of its period
    std::optional<std::uint64_t> first_;
    std::uint64_t highest_ = 0;
    std::uint64_t received_ = 0;
    std::optional<std::uint16_t> bad_next_;  // the number after an implausible one
    std::int64_t expected_before_ = 0;
    std::uint64_t received_before_ = 0;
    double fraction_lost_ = 0;
    std::optional<TimePoint> last_arrival_;
    std::uint32_t last_timestamp_ = 0;
    double jitter_ = 0;  // in the stream's clock
    std::uint32_t clock_rate_;
};

}  // namespace live::engine::rtp
