// The receiving half of a connection: its buffer, and the ACKs and NAKs about it (draft-sharabayko-srt-01, 4.8).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ring_queue.hpp"
#include "engine/srt/packet.hpp"
#include "engine/srt/transfer/receive_buffer.hpp"
#include "engine/srt/transfer/round_trip.hpp"

namespace live::engine::srt {

// A control packet without its common fields, timestamp and destination.
struct ControlOutput {
    ControlType type{};
    std::uint32_t information = 0;
    std::vector<std::uint8_t> contents{};
    std::uint16_t subtype = 0;
};

class ReceiveSide {
public:
    static constexpr Micros kAckInterval{10'000};
    static constexpr unsigned kLightAckPackets = 64;
    // Interval between retransmission requests while packets are missing.
    static constexpr Micros kNakTick{10'000};
    static constexpr Micros kLossMemory = std::chrono::seconds(10);
    // Maximum number of ranges in one NAK.
    static constexpr std::size_t kNakRangesMax = kPayloadBytesMax / 8;
    // ACKs that wait for their ACKACK: five seconds of them.
    static constexpr std::size_t kAcksMax = 512;

    ReceiveSide(std::uint64_t first, ReceiveBuffer::Limits limits) : buffer_(first, limits), acknowledged_(first) {}

    const ReceiveBuffer& buffer() const { return buffer_; }
    ReceiveBuffer::Place place_of(std::uint64_t position, std::size_t bytes) { return buffer_.place_of(position, bytes); }
    // For a wanted position; see ReceiveBuffer::insert.
    void insert(Micros now, std::uint64_t position, Micros timestamp, std::optional<Slice> bytes);
    // The same for one that continues what was read; see ReceiveBuffer::insert_read.
    void insert_read(Micros now, std::uint64_t position, Micros timestamp, std::size_t size);
    std::optional<ReceiveBuffer::Unread> read_next() { return buffer_.read_next(); }
    void give_up(Micros now, PositionRange range);
    std::optional<ReceivedPayload> take(Micros now, const DeliveryClock* clock);
    // The round-trip time, if this ACKACK answers an ACK that is remembered.
    std::optional<Micros> handle_ack_ack(Micros now, std::uint32_t number);

    void handle_timeout(Micros now, const RoundTrip& round_trip);
    // Micros::max() if there is nothing to wait for.
    Micros next_timeout() const;
    bool has_output() const { return is_ack_due_ || is_light_ack_due_ || !nak_.empty(); }
    std::optional<ControlOutput> next_output(Micros now, const RoundTrip& round_trip);

    std::uint64_t lost() const { return lost_; }
    // Whether packets were missing within the last kLossMemory.
    bool has_lost(Micros now) const { return now < loses_until_; }

private:
    struct SentAck {
        std::uint32_t number;
        std::int64_t at_us;
        std::uint64_t position;
    };

    void note_arrival(Micros now, std::size_t bytes);
    void note_stored(Micros now);
    void arm_ack(Micros now);
    Ack make_ack(Micros now, const RoundTrip& round_trip);
    void measure_rate(Micros now);

    ReceiveBuffer buffer_;
    RingQueue<SentAck> acks_;
    std::uint64_t acknowledged_;   // the last full ACK
    std::uint64_t confirmed_ = 0;  // by an ACKACK
    std::uint32_t ack_number_ = 0;
    unsigned since_ack_ = 0;
    Micros last_ack_at_ = -kAckInterval;
    Micros ack_at_ = Micros::max();
    Micros nak_at_ = Micros::max();
    bool is_ack_due_ = false;
    bool is_light_ack_due_ = false;
    std::vector<PositionRange> nak_;
    std::uint64_t lost_ = 0;
    Micros loses_until_{};

    // Packets and bytes of the last second, for ACKs.
    Micros rate_since_{};
    std::uint32_t rate_packets_ = 0;
    std::uint64_t rate_bytes_ = 0;
    Ack::Rates rates_;
};

}  // namespace live::engine::srt
