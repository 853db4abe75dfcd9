#include "session/rtc/black_hole.hpp"

#include <utility>

#include "base/endpoint.hpp"

namespace live::session::rtc {

Result<std::unique_ptr<BlackHole>> BlackHole::create(const std::string& to) {
    constexpr std::size_t kBufferBytes = 1 << 20;
    const auto endpoints = TRY(parse_endpoint(to));
    if (endpoints.size() != 1)
        return Error(Errc::malformed, "\"" + to + "\" is no address with a port");
    const TransportAddress address{TRY(parse_ip(endpoints.front().ip)), endpoints.front().port};
    auto socket = TRY(io::UdpSocket::bind({address.is_ipv4() ? "0.0.0.0" : "::", 0}, kBufferBytes));
    return std::make_unique<BlackHole>(Private{}, std::move(socket), address);
}

void BlackHole::on_plain(Bytes packet) {
    if (packet.empty())
        return;
    const io::Train train{packet, packet.size(), to_, {}};
    static_cast<void>(socket_->send({&train, 1}));
}

}  // namespace live::session::rtc
