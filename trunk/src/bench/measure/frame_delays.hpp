// The delay of each stamped frame over all clients: to the one who joined last, and to whoever got it last. A frame counts when
// every client has it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "bench/measure/delay_stamp.hpp"

namespace live::bench {

class FrameDelays {
public:
    // Frames beyond it are not counted.
    static constexpr std::size_t kFramesMax = 1'000'000;

    explicit FrameDelays(std::uint64_t clients) : clients_(clients) {}

    // Forgets what was; from now on frames count that were sent at `from` or later.
    void restart(SystemMicros from);
    // Client number `client`, of 0 to clients - 1 in the order they joined, has the frame that was sent at `sent`. A client gets
    // frames in the order they were sent in.
    void add(std::uint64_t client, SystemMicros sent, std::chrono::microseconds delay);

    // Milliseconds, a value a frame that everybody has.
    std::vector<double> newest_ms() const;
    std::vector<double> slowest_ms() const;
    // Frames that somebody has and somebody has not.
    std::size_t incomplete() const;

private:
    struct Frame {
        SystemMicros sent{};
        std::uint64_t arrivals = 0;
        std::chrono::microseconds newest{};
        std::chrono::microseconds slowest{};
    };

    std::vector<double> of_complete(std::chrono::microseconds Frame::*delay) const;

    std::uint64_t clients_;
    SystemMicros from_{};
    std::vector<Frame> frames_;  // in the order they were sent in
};

}  // namespace live::bench
