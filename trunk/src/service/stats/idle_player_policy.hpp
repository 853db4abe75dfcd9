// IdlePlayerPolicy: decides when a player has kept its place too long without using it: it reads nothing although there is data
// for it, or its stream has no publisher. Dry: the caller polls all clients and passes what it sees.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "media/ring/options.hpp"

namespace live::service::stats {

class IdlePlayerPolicy {
public:
    struct Seen {
        std::uint64_t taken = 0;  // of any unit: bytes sent, or what it has acknowledged
        bool waits = false;       // data waits for it, and it is not paused
        bool is_published = false;
        Duration paused{};  // time since the last look in which the process did not run
    };
    enum class Verdict : std::uint8_t { stays, stalled, unpublished };

    // The first look starts the clock.
    Verdict look(TimePoint now, const Seen& seen, const media::PlayOptions& options) {
        const bool is_first = took_at_ == TimePoint{};
        took_at_ += seen.paused;
        published_at_ += seen.paused;
        looked_at_ = now;
        if (is_first || !seen.waits || seen.taken != taken_)
            took_at_ = now;
        if (is_first || seen.is_published)
            published_at_ = now;
        taken_ = seen.taken;
        if (is_over(now - took_at_, options.stall_timeout))
            return Verdict::stalled;
        return is_over(now - published_at_, options.unpublished_timeout) ? Verdict::unpublished : Verdict::stays;
    }

    TimePoint looked_at() const { return looked_at_; }

private:
    static bool is_over(Duration passed, std::chrono::seconds limit) { return limit > limit.zero() && passed >= limit; }

    std::uint64_t taken_ = 0;
    TimePoint looked_at_{};
    TimePoint took_at_{};
    TimePoint published_at_{};
};

}  // namespace live::service::stats
