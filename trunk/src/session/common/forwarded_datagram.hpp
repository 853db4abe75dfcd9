// Forwarded datagrams: those that the process which owns a UDP port cannot place. After an upgrade the old process has sessions
// still, whose clients send to the same port, so the new one passes what it does not know on to it, as one message for each
// datagram:
//
//   protocol u8 | is IPv6 u8 | local port u16 | sender's address 16, port u16 | local address 16 | the datagram
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/endpoint.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"

namespace live::session {

struct ForwardedDatagram {
    enum class Protocol : std::uint8_t { webrtc, srt };
    static constexpr std::size_t kHeadBytes = 38;
    // As io::UdpSocket takes them.
    static constexpr std::size_t kDatagramBytesMax = 2048;

    Protocol protocol = Protocol::webrtc;
    bool is_ipv6 = false;  // the socket that it came in by
    std::uint16_t port = 0;
    TransportAddress from{};
    IpAddress to{};

    bool operator==(const ForwardedDatagram&) const = default;
    bool came_by(const Endpoint& local) const { return local.port == port && local.is_ipv6() == is_ipv6; }
};

// Into `out`, which is reused.
void write_forwarded(const ForwardedDatagram& forwarded, Bytes datagram, std::vector<std::uint8_t>& out);
// The rest of the message is the datagram, 1 to kDatagramBytesMax bytes. Errc::malformed.
Result<ForwardedDatagram> parse_forwarded(Bytes message);

class DatagramForwarding {
public:
    // Never suspends; it may be lost, as any datagram may.
    virtual void pass(const ForwardedDatagram& forwarded, Bytes datagram) = 0;

protected:
    ~DatagramForwarding() = default;
};

}  // namespace live::session
