// RtpOrder: puts the packets of one SSRC over UDP into the order of their sequence numbers. Packets after a gap wait for the
// missing one, up to a number of packets and a time. Dry.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"

namespace live::engine::gb28181 {

class RtpOrder {
public:
    // Packets that wait for a missing one before them.
    static constexpr std::size_t kWindow = 64;
    static constexpr std::chrono::milliseconds kWaitMax{200};
    // Consecutive packets with sequence numbers far away after which the sender is known to have restarted.
    static constexpr unsigned kStraysMax = 3;

    struct Counters {
        std::uint64_t lost = 0;
        std::uint64_t late = 0;      // or received twice
        std::uint64_t restarts = 0;  // of the sequence numbers
    };
    struct Payload {
        std::vector<std::uint8_t> bytes;
        bool marker = false;
        bool follows_gap = false;
    };

    void push(TimePoint now, std::uint16_t sequence, bool marker, Bytes payload);
    // The next payload in order.
    std::optional<Payload> next();

    const Counters& counters() const { return counters_; }
    std::size_t held_bytes() const { return held_bytes_; }

private:
    struct Slot {
        bool is_full = false;
        TimePoint arrived{};
        Payload payload;
    };

    void restart(std::uint16_t sequence);
    void release(TimePoint now);
    void skip_gap();

    std::optional<std::uint16_t> first_;  // the sequence number of the first slot
    std::deque<Slot> waiting_;
    std::deque<Payload> ready_;
    bool has_gap_ = false;  // before the next payload
    unsigned strays_ = 0;
    std::size_t held_bytes_ = 0;
    Counters counters_;
};

}  // namespace live::engine::gb28181
