// One incoming RTP stream, i.e. one SSRC (and its RTX SSRC): its sequence numbers, missing packets and packets waiting to be in
// order. A track has one, or with simulcast one per layer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "engine/rtp/receive/jitter_buffer.hpp"
#include "engine/rtp/receive/nack_generator.hpp"
#include "engine/rtp/receive/reception.hpp"
#include "engine/rtp/sender_clock.hpp"
#include "wire/rtp/packet.hpp"

namespace live::engine::rtp {

class ReceiveStream {
public:
    struct Options {
        std::uint32_t ssrc = 0;
        std::uint32_t clock_rate = 90'000;
        std::string rid;                                // of the layer; empty without simulcast
        bool has_nack = false;                          // lost packets can be requested
        std::chrono::microseconds round_trip{100'000};  // initial value
    };
    enum class Origin : std::uint8_t { stream, repair };
    // Whether the stream is forwarded, or about to be. For others nothing is buffered or requested.
    enum class Use : std::uint8_t { forward, watch };

    explicit ReceiveStream(Options options, TimePoint now);

    // Receives and counts a packet. `bytes` is the datagram's length. False if it is dropped for an implausible sequence number.
    bool receive(TimePoint now, const wire::rtp::Packet& packet, Origin origin, Use use, std::size_t bytes);
    // The same for a packet of a stream that is forwarded. One that is the next in order is not buffered: it counts as popped.
    struct Received {
        bool is_accepted = false;
        std::optional<std::uint64_t> popped{};  // its number
    };
    Received receive_in_order(TimePoint now, const wire::rtp::Packet& packet, std::size_t bytes);
    std::optional<JitterBuffer::Ordered> pop(TimePoint now) { return buffer_.pop(now); }
    // The packets given up between the previously popped packet and this one; 0 for the first, and after a restart. Call once for
    // each.
    std::uint64_t gap_before(std::uint64_t sequence);
    // True once after its sequence numbers restarted, with the first packet popped after that.
    bool take_restart() { return std::exchange(has_restarted_, false); }
    // Ends the forwarding of the stream: waiting packets are dropped.
    void stop();

    std::vector<std::uint16_t> due_nacks(TimePoint now) {
        return options_.has_nack ? nacks_.due(now) : std::vector<std::uint16_t>{};
    }
    std::optional<TimePoint> next_nack() const { return options_.has_nack ? nacks_.next_timeout() : std::nullopt; }
    std::optional<TimePoint> next_pop() const { return buffer_.next_timeout(); }
    wire::rtcp::ReportBlock report(TimePoint now);

    std::uint32_t ssrc() const { return options_.ssrc; }
    const std::string& rid() const { return options_.rid; }
    std::optional<std::uint32_t> rtx_ssrc;
    SenderClock clock;
    TimePoint received_at() const { return received_at_; }
    // Bits per second over about the last second.
    std::uint64_t rate(TimePoint now) const;

    const Reception& reception() const { return reception_; }
    const NackGenerator& nacks() const { return nacks_; }
    std::uint64_t given_up() const { return given_up_before_ + buffer_.given_up(); }
    bool is_waiting() const { return buffer_.waiting() > 0; }
    // Returns the memory of packets that wait to be in order.
    std::size_t waiting_bytes() const { return buffer_.waiting_bytes(); }

private:
    std::optional<std::uint64_t> number_of(TimePoint now, const wire::rtp::Packet& packet, Use use);
    void push(TimePoint now, std::uint64_t sequence, const wire::rtp::Packet& packet);
    void begin_anew();
    void count_rate(TimePoint now, std::size_t bytes);

    Options options_;
    Reception reception_;
    NackGenerator nacks_;
    JitterBuffer buffer_;
    std::optional<std::uint64_t> popped_;
    std::uint64_t given_up_before_ = 0;
    bool has_restarted_ = false;
    TimePoint received_at_;
    // Bits in the current interval and in the one before.
    TimePoint span_;
    std::uint64_t span_bits_ = 0;
    std::uint64_t last_bits_ = 0;
};

}  // namespace live::engine::rtp
