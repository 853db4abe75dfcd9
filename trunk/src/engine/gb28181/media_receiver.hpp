// MediaReceiver: the RTP packets of one GB28181 device as frames: order (UDP), program stream, codecs. Dry.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "engine/gb28181/rtp_order.hpp"
#include "engine/gb28181/tcp_frames.hpp"
#include "wire/ps/ps_reader.hpp"
#include "wire/rtp/packet.hpp"

namespace live::engine::gb28181 {

class MediaReceiver {
public:
    // Frames that wait for next(): of a stream whose admission takes its time. Later ones are dropped.
    static constexpr std::size_t kWaitingBytesMax = 4U << 20;

    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t bytes = 0;
        std::uint64_t foreign = 0;   // not RTP, or of another SSRC
        std::uint64_t left_out = 0;  // frames beyond kWaitingBytesMax
    };

    explicit MediaReceiver(std::uint32_t ssrc) : ssrc_(ssrc) {}

    // A UDP datagram, or a packet of TcpFrames in the order of the connection. RTCP is ignored.
    void handle_datagram(TimePoint now, Bytes datagram);
    void handle_tcp_packet(Bytes packet, bool follows_gap);
    // The end of the stream.
    void finish();
    std::optional<wire::ps::PsReader::Unit> next();

    std::uint32_t ssrc() const { return ssrc_; }
    const Counters& counters() const { return counters_; }
    const RtpOrder::Counters& order() const { return order_.counters(); }
    const wire::ps::PsReader& reader() const { return reader_; }
    std::size_t held_bytes() const { return reader_.held_bytes() + order_.held_bytes() + waiting_bytes_; }

private:
    std::optional<wire::rtp::Packet> read_packet(Bytes bytes);
    void feed(Bytes payload, bool marker, bool follows_gap);
    void collect();

    const std::uint32_t ssrc_;
    RtpOrder order_;
    wire::ps::PsReader reader_;
    std::deque<wire::ps::PsReader::Unit> waiting_;
    std::size_t waiting_bytes_ = 0;
    Counters counters_;
};

// The SSRC of an RTP packet; nullopt for RTCP and anything else.
std::optional<std::uint32_t> ssrc_of(Bytes packet);

}  // namespace live::engine::gb28181
