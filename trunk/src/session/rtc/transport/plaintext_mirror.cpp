#include "session/rtc/transport/plaintext_mirror.hpp"

#include <utility>

#include "base/net/endpoint.hpp"

namespace live::session::rtc {

Result<std::unique_ptr<PlaintextMirror>> PlaintextMirror::create(const std::string& to) {
    constexpr std::size_t kBufferBytes = 1 << 20;
    const auto endpoints = TRY(parse_endpoint(to));
    if (endpoints.size() != 1)
        return Error(Errc::malformed, "\"" + to + "\" is no address with a port");
    const TransportAddress address{TRY(parse_ip(endpoints.front().ip)), endpoints.front().port};
    auto socket = TRY(io::UdpSocket::bind({address.is_ipv4() ? "0.0.0.0" : "::", 0}, kBufferBytes));
    return std::make_unique<PlaintextMirror>(Private{}, std::move(socket), address);
}

void PlaintextMirror::send(Bytes packet) {
    if (packet.empty())
        return;
    const io::GsoBatch gso{packet, packet.size(), to_, {}};
    static_cast<void>(socket_->send({&gso, 1}));
}

}  // namespace live::session::rtc
