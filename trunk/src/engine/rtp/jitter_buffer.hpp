// Puts the packets of one stream back into order before their frames are put together: a packet waits for those missing before
// it, but not longer than a retransmission may take. Nothing waits while nothing is missing, so it adds no delay of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace live::engine::rtp {

class JitterBuffer {
public:
    static constexpr std::size_t kPacketsMax = 2'048;  // waiting; then the oldest hole is given up

    explicit JitterBuffer(std::chrono::milliseconds wait_max = 400ms) : wait_max_(wait_max) {}

    struct Ordered {
        std::uint64_t sequence = 0;
        Slice payload;
        std::uint32_t timestamp = 0;
        bool marker = false;
        TimePoint came{};  // written by push()
    };

    // False when it came before or too late, or when kPacketsMax wait already. The first packet sets the beginning; one from
    // before it, while nothing has left yet, too.
    bool push(TimePoint now, Ordered packet);
    // The next packet in order, when it is there or when those before it have been waited for long enough.
    std::optional<Ordered> pop(TimePoint now);
    // When pop() will give up a hole.
    std::optional<TimePoint> next_timeout() const;

    std::size_t waiting() const { return waiting_.size(); }
    // With what keeps them in order, nearly.
    std::size_t waiting_bytes() const {
        std::size_t sum = 0;
        for (const auto& [sequence, packet] : waiting_)
            sum += sizeof sequence + sizeof packet + packet.payload.size();
        return sum;
    }
    std::uint64_t given_up() const { return given_up_; }  // packets that never came in time

private:
    std::map<std::uint64_t, Ordered> waiting_;
    std::optional<std::uint64_t> next_;
    std::chrono::milliseconds wait_max_;
    std::uint64_t given_up_ = 0;
    bool has_left_ = false;
};

}  // namespace live::engine::rtp
