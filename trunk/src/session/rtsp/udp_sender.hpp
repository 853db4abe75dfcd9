// UdpSender: the packets of a log of interleaved frames as datagrams for one player: each track to its ports, in GSO batches of
// equal packets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "io/net/udp_socket.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/rtsp/udp_ports.hpp"

namespace live::session::rtsp {

class UdpSender {
public:
    // Channels of the log: two for each of its tracks.
    static constexpr std::size_t kChannels = 4;
    // A player that begins, or is behind, gets the media in pieces of so many bytes, or of this part of what is left.
    static constexpr std::size_t kPieceBytes = 16U << 10;
    static constexpr std::size_t kPiecePart = 128;
    // Between two pieces.
    static constexpr std::chrono::milliseconds kPieceInterval{4};

    explicit UdpSender(UdpPorts& ports) : ports_(ports) {}

    void set_address(std::size_t channel, const TransportAddress& address) { addresses_.at(channel) = address; }
    // Sends a piece of what the player has not got; true: there is more.
    bool send_some(media::WireCursor& cursor);
    // Tells the player that the tracks end (RFC 3550, 6.6).
    void send_goodbye(std::uint32_t ssrc_base);
    std::uint64_t sent_bytes() const { return sent_bytes_; }

private:
    // One datagram of a batch, in bytes_.
    struct Piece {
        std::uint8_t channel = 0;
        std::size_t at = 0;
        std::size_t size = 0;
    };

    void take(media::WireCursor& cursor, std::size_t wanted);
    std::size_t cut_frames();
    void send_pieces(UdpPorts::Port port);

    UdpPorts& ports_;
    std::array<std::optional<TransportAddress>, kChannels> addresses_;
    std::vector<std::uint8_t> taken_;  // of the log; at most one unfinished frame remains
    std::vector<std::uint8_t> bytes_;  // of datagrams, without the heads of the frames
    std::vector<Piece> pieces_;
    std::uint64_t sent_bytes_ = 0;
};

}  // namespace live::session::rtsp
