// BlackHole: copies the RTP and RTCP of all sessions, without encryption, to a UDP address: for somebody who looks at a problem.
// It never waits, and what does not fit is lost. What it costs is a datagram for each that is sent or comes.
#pragma once

#include <memory>
#include <string>

#include "engine/rtc/shared_state.hpp"
#include "io/udp_socket.hpp"

namespace live::session::rtc {

class BlackHole final : public engine::rtc::PlainTap {
    struct Private {};

public:
    // `to` is an IP address with a port. Errc::malformed, else as UdpSocket::bind.
    static Result<std::unique_ptr<BlackHole>> create(const std::string& to);
    BlackHole(Private, std::unique_ptr<io::UdpSocket> socket, const TransportAddress& to) : socket_(std::move(socket)), to_(to) {}

    void on_plain(Bytes packet) override;

private:
    std::unique_ptr<io::UdpSocket> socket_;
    const TransportAddress to_;
};

}  // namespace live::session::rtc
