// PlaintextMirror: copies the RTP and RTCP of all sessions, without encryption, to a UDP address: for somebody who looks at a
// problem (the directive is rtc_server { black_hole }). It never waits, and what does not fit is lost. It costs a datagram for
// each that is sent or comes.
#pragma once

#include <memory>
#include <string>

#include "engine/webrtc/shared_state.hpp"
#include "io/udp_socket.hpp"

namespace live::session::rtc {

class PlaintextMirror final : public engine::webrtc::PlainTap {
    struct Private {};

public:
    // `to` is an IP address with a port. Errc::malformed, else as UdpSocket::bind.
    static Result<std::unique_ptr<PlaintextMirror>> create(const std::string& to);
    PlaintextMirror(Private, std::unique_ptr<io::UdpSocket> socket, const TransportAddress& to)
        : socket_(std::move(socket)), to_(to) {}

    void on_plain(Bytes packet) override;

private:
    std::unique_ptr<io::UdpSocket> socket_;
    const TransportAddress to_;
};

}  // namespace live::session::rtc
