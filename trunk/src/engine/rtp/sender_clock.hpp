// The last sender report of one RTP stream: maps RTP timestamps to the sender's clock, and provides the fields for our receiver
// report (RFC 3550, 6.4.1).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "wire/rtcp/report.hpp"

namespace live::engine::rtp {

// Converts NTP's 64 bits (seconds and fraction) to microseconds and back. The epoch is irrelevant.
inline std::chrono::microseconds from_ntp(std::uint64_t ntp) {
    const std::uint64_t fraction = (ntp & 0xFFFFFFFF) * 1'000'000 >> 32;
    return std::chrono::microseconds(static_cast<std::int64_t>((ntp >> 32) * 1'000'000 + fraction));
}
inline std::uint64_t to_ntp(std::chrono::microseconds time) {
    const auto count = static_cast<std::uint64_t>(time.count());
    // Rounded up, so that a round trip is exact.
    return (count / 1'000'000) << 32 | (((count % 1'000'000) << 32) + 999'999) / 1'000'000;
}

class SenderClock {
public:
    explicit SenderClock(std::uint32_t clock_rate) : clock_rate_(clock_rate) {}

    void reported(TimePoint now, const wire::rtcp::SenderReport& report) {
        // Some senders send 0 while their clock is unknown.
        if (report.ntp == 0)
            return;
        last_ = {report.ntp, report.rtp_time, report.middle_of_ntp(), now};
    }
    std::optional<std::chrono::microseconds> time_of(std::uint32_t timestamp) const {
        if (!last_)
            return std::nullopt;
        const std::int64_t ticks = static_cast<std::int32_t>(timestamp - last_->timestamp);
        return from_ntp(last_->ntp) + std::chrono::microseconds(ticks * 1'000'000 / clock_rate_);
    }
    // The inverse.
    std::optional<std::uint32_t> timestamp_at(std::chrono::microseconds time) const {
        if (!last_)
            return std::nullopt;
        const double ticks = std::chrono::duration<double>(time - from_ntp(last_->ntp)).count() * clock_rate_;
        return last_->timestamp + static_cast<std::uint32_t>(static_cast<std::int64_t>(ticks < 0 ? ticks - 0.5 : ticks + 0.5));
    }
    void fill(wire::rtcp::ReportBlock& block, TimePoint now) const {
        if (!last_)
            return;
        block.last_sender_report = last_->middle;
        const std::chrono::duration<double> since = now - last_->arrived;
        block.delay_since = static_cast<std::uint32_t>(since.count() * 65'536);
    }

private:
    struct Last {
        std::uint64_t ntp;
        std::uint32_t timestamp;
        std::uint32_t middle;
        TimePoint arrived;
    };
    std::optional<Last> last_;
    std::uint32_t clock_rate_;
};

}  // namespace live::engine::rtp
