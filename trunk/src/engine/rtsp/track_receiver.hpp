// TrackReceiver: the RTP packets of one track that a peer sends, in order, with the peer's clock from its sender reports. Over
// UDP packets wait for earlier ones; over TCP nothing is missing, so nothing waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "engine/rtp/receive/receive_stream.hpp"

namespace live::engine::rtsp {

class TrackReceiver {
public:
    // So many packets in a row of another SSRC begin another stream; single ones are ignored.
    static constexpr unsigned kStrangersMax = 3;
    // In interleaved frames packets may be longer than datagrams.
    static constexpr std::size_t kPacketBytesMax = 0xFFFF;

    struct Packet {
        std::uint64_t sequence = 0;  // a gap is a lost packet
        std::uint32_t timestamp = 0;
        bool marker = false;
        Bytes payload;  // of `memory`, or borrowed from the datagram
        Slice memory;
        TimePoint arrived{};
        // The peer's clock at this timestamp, once it has sent a report.
        std::optional<std::chrono::microseconds> reported;
    };
    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t lost = 0;     // given up
        std::uint64_t ignored = 0;  // malformed, or of another payload type or SSRC
    };

    TrackReceiver(std::uint8_t payload_type, std::uint32_t clock_rate) : clock_rate_(clock_rate), payload_type_(payload_type) {}

    // Anything but the packets of this track is ignored. Returns the packet if it is the next in order; otherwise keeps a copy of
    // it, and pop() may return some.
    std::optional<Packet> handle_rtp(TimePoint now, Bytes datagram);
    void handle_rtcp(TimePoint now, Bytes datagram);
    // Returns the next packet in order, or the next one after a gap whose wait has expired.
    std::optional<Packet> pop(TimePoint now);
    // When pop() has more without further input.
    std::optional<TimePoint> next_timeout() const;
    // Appends a receiver report with the name of this end; nothing before the first packet.
    void write_report(TimePoint now, std::uint32_t own_ssrc, std::string_view cname, ByteWriter& out);

    Counters counters() const;
    // Reports whether pop() may return a packet, now or later.
    bool is_waiting() const { return stream_ && stream_->is_waiting(); }
    std::size_t held_bytes() const { return stream_ ? stream_->waiting_bytes() : 0; }

private:
    bool admit(TimePoint now, std::uint32_t ssrc);
    // A packet without its payload.
    Packet number(std::uint64_t sequence, std::uint32_t timestamp, bool marker, TimePoint arrived);

    std::optional<rtp::ReceiveStream> stream_;
    std::uint32_t clock_rate_;
    std::uint8_t payload_type_;
    unsigned strangers_ = 0;
    // Numbers of an earlier SSRC come before those of a later one.
    std::uint64_t base_ = 0;
    std::uint64_t newest_ = 0;
    Counters counters_;
    std::uint64_t lost_before_ = 0;
};

}  // namespace live::engine::rtsp
