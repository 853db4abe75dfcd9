// Reorders the packets of one stream before frame assembly: a packet waits for missing earlier ones, at most as long as a
// retransmission may take. Nothing waits while nothing is missing, so it adds no delay of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"

namespace live::engine::rtp {

class JitterBuffer {
public:
    static constexpr std::size_t kPacketsMax = 2'048;  // waiting; beyond that the oldest gap is given up

    explicit JitterBuffer(std::chrono::milliseconds wait_max = 400ms) : wait_max_(wait_max) {}

    struct Ordered {
        std::uint64_t sequence = 0;
        Slice payload;
        std::uint32_t timestamp = 0;
        bool marker = false;
        TimePoint arrived{};  // set by push()
    };

    // False for a duplicate or late packet, or if kPacketsMax are waiting already. The first packet sets the start; an earlier
    // one moves it back as long as nothing was popped.
    bool push(TimePoint now, Ordered packet);
    // Lets a packet pass that is the next in order, so that it need not be pushed and popped. False if it is not, or if others
    // wait.
    bool pass(std::uint64_t sequence);
    // The next packet in order, if it has arrived or the wait for those before it has expired.
    std::optional<Ordered> pop(TimePoint now);
    // When pop() will give up a gap.
    std::optional<TimePoint> next_timeout() const;

    std::size_t waiting() const { return waiting_.size(); }
    // Approximately, including the bookkeeping.
    std::size_t waiting_bytes() const {
        std::size_t sum = 0;
        for (const auto& [sequence, packet] : waiting_)
            sum += sizeof sequence + sizeof packet + packet.payload.size();
        return sum;
    }
    std::uint64_t given_up() const { return given_up_; }  // packets that did not arrive in time

private:
    std::map<std::uint64_t, Ordered> waiting_;
    std::optional<std::uint64_t> next_;
    std::chrono::milliseconds wait_max_;
    std::uint64_t given_up_ = 0;
    bool has_left_ = false;
};

}  // namespace live::engine::rtp
