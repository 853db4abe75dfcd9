// PortOutput: the datagrams that leave a port. Output of all connections is gathered in one batch and sent in GSO batches;
// answers to clients without a connection leave at once, or together in a flood.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/srt/listener.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "io/net/udp_socket.hpp"
#include "session/srt/port/figures.hpp"
#include "session/srt/port/link.hpp"

namespace live::session::srt {

class PortOutput {
public:
    using Induction = std::array<std::uint8_t, engine::srt::kHeaderBytes + engine::srt::kHandshakeBytes>;

    // Counts sent datagrams in `figures`, which outlives this.
    explicit PortOutput(PortFigures& figures) : figures_(figures) {}
    PortOutput(const PortOutput&) = delete;
    PortOutput& operator=(const PortOutput&) = delete;

    // Writes the due datagrams of the connection into the batch.
    void write(Link& link, TimePoint now);
    // Sends the batch. Never suspends.
    void flush();
    // Sends a datagram without a connection at once.
    void send_now(Bytes datagram, const TransportAddress& to, const Path& path);
    // The same with the next flush().
    void answer(const Induction& induction, const TransportAddress& to, const Path& path);

    // The batch that waits to be sent.
    const engine::webrtc::DatagramBatch& batch() const { return batch_; }

private:
    void send_pending();

    engine::webrtc::DatagramBatch batch_;
    std::vector<const Link*> receivers_;  // of each GSO batch in it
    std::vector<io::GsoBatch> pending_;
    std::array<Induction, io::UdpSocket::kBatch> pending_inductions_;  // bytes of those at the same places in pending_
    io::UdpSocket* pending_socket_ = nullptr;
    PortFigures& figures_;
};

}  // namespace live::session::srt
