#include "session/common/udp_sockets.hpp"

#include <algorithm>

#include "base/log/log_format.hpp"

namespace live::session {

Result<void> UdpSockets::listen(const Endpoint& endpoint, std::size_t count) {
    const auto sharing = count > 1 ? io::PortSharing::shared : io::PortSharing::alone;
    Endpoint on = endpoint;
    for (std::size_t i = 0; i < count; ++i) {
        sockets_.push_back(TRY(io::UdpSocket::bind(on, kBufferBytes, sharing)));
        const io::UdpSocket& socket = *sockets_.back();
        // The first socket may have been given a free port.
        on.port = socket.endpoint().port;
        LOG_INFO(log_, "{} listen at udp://{}, fd={}", protocol_, socket.endpoint().text(), socket.native_handle());
        if (sockets_.size() == 1)
            check_buffers(socket);
    }
    return {};
}

// The kernel reports twice the size that it reserves for data.
void UdpSockets::check_buffers(const io::UdpSocket& socket) const {
    const auto [receive, send] = socket.buffers();
    if (receive / 2 >= kBufferBytes && send / 2 >= kBufferBytes)
        return;
    LOG_WARN(log_,
             "the kernel's UDP buffers are small: receive {} KB, send {} KB. For many {} clients: sysctl -w net.core.rmem_max={} "
             "net.core.wmem_max={}",
             receive / 2 >> 10, send / 2 >> 10, protocol_, kBufferBytes, kBufferBytes);
}

void UdpSockets::stop_receiving() const {
    for (const auto& socket : sockets_)
        socket->stop_receiving();
}

io::UdpSocket* UdpSockets::find(const ForwardedDatagram& forwarded) const {
    const auto found = std::ranges::find_if(sockets_, [&](const auto& socket) { return forwarded.came_by(socket->endpoint()); });
    return found == sockets_.end() ? nullptr : found->get();
}

std::uint64_t UdpSockets::lost_on_arrival() const {
    std::uint64_t lost = 0;
    for (const auto& socket : sockets_)
        lost += socket->lost_on_arrival();
    return lost;
}

std::uint64_t UdpSockets::send_failures() const {
    std::uint64_t failures = 0;
    for (const auto& socket : sockets_)
        failures += socket->counters().sent_failed;
    return failures;
}

}  // namespace live::session
