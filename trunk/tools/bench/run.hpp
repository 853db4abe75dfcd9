// A clip as one run of bytes without end, as a player of a server receives it: each message with a type-1 chunk header. And the ticks of a sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clip.hpp"

namespace bench {

class Run {
public:
    explicit Run(const Clip& clip);

    // Returns the number of bytes that exist `elapsed` seconds after the start. Call it with times that never decrease.
    std::uint64_t head(double elapsed);
    // The bytes from the position `from` on; one period of them is contiguous.
    const std::uint8_t* at(std::uint64_t from) const { return bytes_.data() + from % period_; }
    // Bytes of one round of the clip.
    std::uint64_t period() const { return period_; }

private:
    std::vector<std::uint8_t> bytes_;  // twice, so that a slice never wraps
    std::vector<std::size_t> ends_;    // of each message of a round
    std::vector<double> times_s_;      // the time of each message of a round
    std::uint64_t period_ = 0;
    double duration_s_;
    std::uint64_t head_ = 0;
    std::uint64_t rounds_ = 0;
    std::size_t next_ = 0;
    double round_start_ = 0;
};

// The turns of N clients, spread evenly over a window, and the tick between two looks at them.
class Turns {
public:
    Turns(std::size_t clients, double window_s, double tick_s) : clients_(clients), window_s_(window_s), tick_s_(tick_s) {}

    // Calls `turn(client)` for each client whose turn has come `elapsed` seconds after the start. After a stall nobody gets two turns in one tick.
    template <typename F>
    void take(double elapsed, F turn) {
        const auto due = static_cast<std::uint64_t>(elapsed * static_cast<double>(clients_) / window_s_);
        if (due - done_ > clients_)
            done_ = due - clients_;
        for (; done_ < due; ++done_)
            turn(done_ % clients_);
    }
    // Sleeps for a tick of 0.8 to 1.2 of its length. A server beside this one has ticks of one length: with the same here, the two would keep for
    // a whole run the phase in which they started, and the one that wakes first would pay for the core's wake-up each time.
    void sleep();

private:
    std::size_t clients_;
    double window_s_;
    double tick_s_;
    std::uint64_t done_ = 0;
    std::uint32_t random_ = 1;
};

}  // namespace bench
