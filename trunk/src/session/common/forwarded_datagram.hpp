// ForwardedDatagram: a datagram for no session of the process that owns a UDP port. After an upgrade the old process still has
// sessions whose clients send to the same port. The new process forwards unknown datagrams to it, each in one message:
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
    // The maximum that io::UdpSocket receives.
    static constexpr std::size_t kDatagramBytesMax = 2048;

    Protocol protocol = Protocol::webrtc;
    bool is_ipv6 = false;  // the socket that received it
    std::uint16_t port = 0;
    TransportAddress from{};
    IpAddress to{};

    bool operator==(const ForwardedDatagram&) const = default;
    bool came_by(const Endpoint& local) const { return local.port == port && local.is_ipv6() == is_ipv6; }
};

// Writes the message into `out`, which is reused.
void write_forwarded(const ForwardedDatagram& forwarded, Bytes datagram, std::vector<std::uint8_t>& out);
// Returns the header of a message; the rest is the datagram, 1 to kDatagramBytesMax bytes. Errc::malformed.
Result<ForwardedDatagram> parse_forwarded(Bytes message);

// Forwards datagrams to other processes.
class DatagramForwarding {
public:
    // Must not suspend. The datagram may be lost, as any datagram may.
    virtual void pass(const ForwardedDatagram& forwarded, Bytes datagram) = 0;

protected:
    ~DatagramForwarding() = default;
};

}  // namespace live::session
