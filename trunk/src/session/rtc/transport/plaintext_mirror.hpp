// PlaintextMirror: copies the RTP and RTCP of all sessions, unencrypted, to a UDP address, for debugging (the directive is
// rtc_server { black_hole }). It never waits; datagrams that do not fit are dropped. Costs one datagram for each one sent or
// received.
#pragma once

#include <memory>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "io/net/udp_socket.hpp"

namespace live::session::rtc {

class PlaintextMirror {
    struct Private {};

public:
    // `to` is an IP address with a port. Errc::malformed, otherwise as UdpSocket::bind.
    static Result<std::unique_ptr<PlaintextMirror>> create(const std::string& to);
    PlaintextMirror(Private, std::unique_ptr<io::UdpSocket> socket, const TransportAddress& to)
        : socket_(std::move(socket)), to_(to) {}

    void send(Bytes packet);

private:
    std::unique_ptr<io::UdpSocket> socket_;
    const TransportAddress to_;
};

}  // namespace live::session::rtc
