// LogThrottle: decides which lines are logged when one kind is very frequent. A kind is a code location. Each client has its own
// share of each kind, and each kind a share of the log; suppressed lines are counted and reported. Dry: the time is passed in.
// Allocates only when a kind is first seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/log/log.hpp"
#include "base/time.hpp"

namespace live {

class LogThrottle {
public:
    // A burst of this many lines, then one per interval.
    struct Rate {
        std::uint32_t burst;
        Duration interval;
    };
    static constexpr Rate kOfClient{10, std::chrono::seconds(10)};
    static constexpr Rate kOfKind{100, std::chrono::milliseconds(100)};
    // Suppressed lines of a kind are reported with its next line, or after this time.
    static constexpr Duration kSayAfter = std::chrono::seconds(10);
    // Client shares that are remembered. Two clients that hash to the same slot overwrite each other, within the share of the
    // kind.
    static constexpr std::size_t kShares = 2048;
    static constexpr std::size_t kSampleBytes = 200;

    // Suppressed lines of one kind.
    struct LeftOut {
        std::uint64_t lines = 0;
        std::string sample;  // the beginning of its newest line that was written
    };

    // Whether a line of this kind may be written for the client. If not, it is counted as suppressed.
    bool admits(TimePoint now, LogLimit limit, LogPlace place, std::string_view client);
    // Records that the line was written; returns the lines of its kind suppressed since the last report. Nothing for kinds
    // without a limit.
    std::uint64_t on_written(LogPlace place, std::string_view message);
    // A kind with lines suppressed at least `age` ago and not yet reported; marks it as reported.
    std::optional<LeftOut> take_left_out(TimePoint now, Duration age = kSayAfter);
    // Total.
    std::uint64_t left_out() const { return left_out_; }

private:
    class Share {
    public:
        bool take(TimePoint now, const Rate& rate);

    private:
        TimePoint due_{};  // when the full burst is available again
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
