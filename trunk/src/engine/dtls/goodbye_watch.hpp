// Detects that a peer has left after its DTLS object was released: an established OpenSSL object takes 40 to 60 KiB, and alerts
// cannot be decrypted without it. An unreadable protected alert is only a suspicion, because any spoofer of the peer's address
// could have sent it. It is confirmed if the peer, which always sends something authentic (RTCP, ICE checks), then stays silent:
// for twice its longest pause so far, but at least 1 s and at most 6 s, by when the next ICE check is due (RFC 7675, 5.1: every 4
// to 6 s). So a forged alert ends nothing.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.hpp"

namespace live::engine::dtls {

class GoodbyeWatch {
public:
    static constexpr std::chrono::milliseconds kSilenceMin{1'000};
    static constexpr std::chrono::milliseconds kSilenceMax{6'000};
    // Packets sent before the alert may arrive after it.
    static constexpr std::chrono::milliseconds kReordering{200};

    // An authentic packet arrived.
    void on_authentic(TimePoint now) {
        if (last_)
            longest_pause_ = std::max(longest_pause_, now - *last_);
        last_ = now;
        if (suspected_ && now - *suspected_ >= kReordering)
            suspected_.reset();
    }
    // An alert arrived, possibly from the peer.
    void on_alert(TimePoint now) {
        if (!suspected_)
            suspected_ = now;
    }

    // When the peer counts as disconnected, unless it sends something first.
    std::optional<TimePoint> next_timeout() const {
        if (!suspected_)
            return std::nullopt;
        const Duration silence = last_ ? 2 * longest_pause_ : Duration(kSilenceMax);
        return *suspected_ + std::clamp<Duration>(silence, kSilenceMin, kSilenceMax);
    }
    bool has_left(TimePoint now) const {
        const auto due = next_timeout();
        return due && now >= *due;
    }

private:
    std::optional<TimePoint> last_;
    Duration longest_pause_{};
    std::optional<TimePoint> suspected_;
};

}  // namespace live::engine::dtls
