// One incoming RTP stream, which is one SSRC (and the SSRC of its RTX): its numbers, what it misses, what waits for its turn. A
// track has one, or with simulcast one for each layer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "engine/rtp/jitter_buffer.hpp"
#include "engine/rtp/nack_generator.hpp"
#include "engine/rtp/reception.hpp"
#include "engine/rtp/sender_clock.hpp"
#include "wire/rtp/packet.hpp"

namespace live::engine::rtp {

class ReceiveStream {
public:
    struct Options {
        std::uint32_t ssrc = 0;
        std::uint32_t clock_rate = 90'000;
        std::string rid;                                // of the layer; empty without simulcast
        bool has_nack = false;                          // lost packets may be asked for
        std::chrono::microseconds round_trip{100'000};  // to begin with
    };
    enum class Origin : std::uint8_t { stream, repair };
    // Is the stream forwarded, or about to be? Of others nothing is kept and nothing asked for.
    enum class Use : std::uint8_t { forward, watch };

    explicit ReceiveStream(Options options, TimePoint now);

    // What a packet is counted by. `bytes` is the datagram's length. False when it is dropped: its number is out of the question.
    bool receive(TimePoint now, const wire::rtp::Packet& packet, Origin origin, Use use, std::size_t bytes);
    std::optional<JitterBuffer::Ordered> pop(TimePoint now) { return buffer_.pop(now); }
    // Packets in front of this one that were given up, since the one popped before; 0 for the first, and where the stream began
    // anew. Call once for each.
    std::uint64_t gap_before(std::uint64_t sequence);
    // True once after its numbers began anew, with the first packet popped behind that.
    bool take_restart() { return std::exchange(has_restarted_, false); }
    // The stream is forwarded no more: what waits is let go.
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
    TimePoint heard() const { return heard_; }
    // Bits a second over the last second or so.
    std::uint64_t rate(TimePoint now) const;

    const Reception& reception() const { return reception_; }
    const NackGenerator& nacks() const { return nacks_; }
    std::uint64_t given_up() const { return given_up_before_ + buffer_.given_up(); }
    // Of packets that wait for their turn.
    std::size_t waiting_bytes() const { return buffer_.waiting_bytes(); }

private:
    void begin_anew();
    void count_rate(TimePoint now, std::size_t bytes);

    Options options_;
    Reception reception_;
    NackGenerator nacks_;
    JitterBuffer buffer_;
    std::optional<std::uint64_t> popped_;
    std::uint64_t given_up_before_ = 0;
    bool has_restarted_ = false;
    TimePoint heard_;
    // Bits in this span of time and in the one before.
    TimePoint span_;
    std::uint64_t span_bits_ = 0;
    std::uint64_t last_bits_ = 0;
};

}  // namespace live::engine::rtp
