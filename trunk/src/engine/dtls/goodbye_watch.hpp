// Notices that a peer has left when its DTLS object has been let go: an established OpenSSL object holds 40 to 60 KiB, and only
// with it can an alert be read. A protected alert that nobody can read is a suspicion, which anybody could have sent who can
// write the peer's address on a datagram. It is believed when the peer, who always says something authentic (RTCP, checks of
// ICE), then says nothing: for twice the longest pause that it has made so far, a second at least, and 6 s at most, by when the
// next check of ICE is due (RFC 7675, 5.1: every 4 to 6 s). So a forged alert ends nothing.
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
    // What was sent before the goodbye may come after it.
    static constexpr std::chrono::milliseconds kReordering{200};

    // Something authentic came.
    void on_authentic(TimePoint now) {
        if (last_)
            longest_pause_ = std::max(longest_pause_, now - *last_);
        last_ = now;
        if (suspected_ && now - *suspected_ >= kReordering)
            suspected_.reset();
    }
    // An alert came, perhaps the peer's.
    void on_alert(TimePoint now) {
        if (!suspected_)
            suspected_ = now;
    }

    // When the peer has left, unless it says something first.
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
