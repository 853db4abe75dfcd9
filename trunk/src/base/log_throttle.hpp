// LogThrottle: which lines of a kind get into the log when there are very many of them. A kind is a place in the code. Each
// client has a share of its own in each kind, and each kind a share of the log; what is left out is counted, to be said. Dry: it
// is given the time. Allocates only when a kind is seen for the first time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/log.hpp"
#include "base/time.hpp"

namespace live {

class LogThrottle {
public:
    // So many lines at once, then one in each interval.
    struct Rate {
        std::uint32_t burst;
        Duration interval;
    };
    static constexpr Rate kOfClient{10, std::chrono::seconds(10)};
    static constexpr Rate kOfKind{100, std::chrono::milliseconds(100)};
    // What was left out of a kind is said at its next line, or after so long.
    static constexpr Duration kSayAfter = std::chrono::seconds(10);
    // Clients of kinds that are remembered; two that fall on one place forget each other, within the share of the kind.
    static constexpr std::size_t kShares = 2048;
    static constexpr std::size_t kSampleBytes = 200;

    // Of one kind.
    struct LeftOut {
        std::uint64_t lines = 0;
        std::string sample;  // the beginning of its newest line that was not left out
    };

    // Whether a line of the kind may be written for the client. No: it has been counted.
    bool admits(TimePoint now, LogPlace place, std::string_view client);
    // That line is written. What was left out of its kind before and not said yet.
    std::uint64_t on_written(LogPlace place, std::string_view message);
    // A kind of which something was left out at least `age` ago and has not been said; it counts as said now.
    std::optional<LeftOut> take_left_out(TimePoint now, Duration age = kSayAfter);
    // In all.
    std::uint64_t left_out() const { return left_out_; }

private:
    class Share {
    public:
        bool take(TimePoint now, const Rate& rate);

    private:
        TimePoint due_{};  // when all of the burst is free again
    };
    struct ClientShare {
        std::size_t key = 0;
        Share share;
    };
    struct Kind {
        Share share;
        std::uint64_t unsaid = 0;
        TimePoint unsaid_since{};
        std::string sample;
    };

    std::unordered_map<LogPlace, Kind> kinds_;
    std::array<ClientShare, kShares> clients_{};
    std::uint64_t left_out_ = 0;
};

}  // namespace live
