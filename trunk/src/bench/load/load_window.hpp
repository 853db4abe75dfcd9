// What a load says to the program that drives it: figures of a window between two of its words, and of everything since the
// start. Dry: load_driver.hpp has the words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bench/measure/client_meter.hpp"
#include "bench/measure/frame_delays.hpp"
#include "bench/measure/log_histogram.hpp"
#include "bench/measure/position_lag.hpp"
#include "bench/measure/tally.hpp"

namespace live::bench {

class LoadWindow {
public:
    // How often each client is compared with the leader.
    static constexpr std::chrono::milliseconds kLagStep{250};

    enum class Side : std::uint8_t { plays, publishes };

    // All of them outlive this; of the tally mark() takes back what is the window's.
    LoadWindow(Tally& tally, std::span<const ClientMeter> clients, FrameDelays& frames, Side side)
        : tally_(tally), clients_(clients), frames_(frames), side_(side) {}

    // Every client plays or publishes, or has failed.
    bool is_ready() const { return tally_.started == tally_.clients && tally_.open + tally_.failed >= tally_.clients; }
    // To be called often: its steps are the resolution of how far clients are behind the leader.
    void tick(TimePoint now);
    // A window begins.
    void mark(TimePoint now, SystemMicros wall);
    // One object without a line's end, "event" first: figures of the window, and "total_bytes", "bytes_min" and the like of
    // everything since the start. The "media" ones are what all publishers have sent, or what the first player has got if it
    // looks.
    std::string line(std::string_view event, TimePoint now) const;

private:
    std::uint64_t total_bytes() const { return side_ == Side::plays ? tally_.bytes_in : tally_.bytes_out; }

    Tally& tally_;
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
