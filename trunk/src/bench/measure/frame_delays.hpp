// The delay of each stamped frame over all clients: to the client that joined last, and to the client that received it last. A
// frame counts when every client has it.
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

    // Drops all frames. From now on frames sent at `from` or later count.
    void restart(SystemMicros from);
    // Client `client` has received the frame that was sent at `sent`. Clients are numbered from 0 in the order in which they
    // joined, and each must report its frames in the order in which they were sent.
    void add(std::uint64_t client, SystemMicros sent, std::chrono::microseconds delay);

    // In milliseconds, one value per frame that every client has.
    std::vector<double> newest_ms() const;
    std::vector<double> slowest_ms() const;
    // The number of frames that some clients lack.
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
