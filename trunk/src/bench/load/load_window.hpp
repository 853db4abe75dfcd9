// The report of a load to the program that controls it: counters of a window between two commands, and totals since the start.
// Dry: load_driver.hpp reads the commands.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bench/measure/client_meter.hpp"
#include "bench/measure/frame_delays.hpp"
#include "bench/measure/load_totals.hpp"
#include "bench/measure/log_histogram.hpp"
#include "bench/measure/position_lag.hpp"

namespace live::bench {

class LoadWindow {
public:
    // How often each client is compared with the leader.
    static constexpr std::chrono::milliseconds kLagStep{250};

    enum class Side : std::uint8_t { plays, publishes };

    // All must outlive this. mark() resets the counters of the window in `totals`.
    LoadWindow(LoadTotals& totals, std::span<const ClientMeter> clients, FrameDelays& frames, Side side)
        : totals_(totals), clients_(clients), frames_(frames), side_(side) {}

    // Reports whether every client plays or publishes, or has failed.
    bool is_ready() const { return totals_.started == totals_.clients && totals_.open + totals_.failed >= totals_.clients; }
    // Must be called often: the interval is the resolution of the clients' distance to the leader.
    void tick(TimePoint now);
    // Begins a window.
    void mark(TimePoint now, SystemMicros wall);
    // Returns one object without a newline, "event" first: counters of the window, and "total_bytes", "bytes_min" and similar
    // ones since the start. The "media" counters are those of all publishers, or of the first player if it parses the stream.
    std::string line(std::string_view event, TimePoint now) const;

private:
    std::uint64_t total_bytes() const { return side_ == Side::plays ? totals_.bytes_in : totals_.bytes_out; }

    LoadTotals& totals_;
    std::span<const ClientMeter> clients_;
    FrameDelays& frames_;
    Side side_;
    TimePoint marked_at_{};
    TimePoint next_lag_{};
    std::uint64_t bytes_at_mark_ = 0;
    std::uint64_t stamps_at_mark_ = 0;
    PositionLag lag_;
    LogHistogram lags_;  // microseconds
};

}  // namespace live::bench
