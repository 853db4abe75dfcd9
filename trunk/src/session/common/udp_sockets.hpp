// UdpSockets: the sockets of a datagram protocol's port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "io/net/udp_socket.hpp"
#include "session/common/forwarded_datagram.hpp"

namespace live::session {

class UdpSockets {
public:
    // The value that the guides recommend for net.core.rmem_max and wmem_max.
    static constexpr std::size_t kBufferBytes = 16U << 20;

    // `protocol` and `log` are for the log and must outlive this.
    UdpSockets(std::string_view protocol, const Log& log) : protocol_(protocol), log_(log) {}

    // Opens `count` sockets at one endpoint, among which the kernel distributes clients. Errors as UdpSocket::bind.
    Result<void> listen(const Endpoint& endpoint, std::size_t count = 1);
    void stop_receiving() const;

    auto begin() const { return sockets_.begin(); }
    auto end() const { return sockets_.end(); }
    std::size_t size() const { return sockets_.size(); }
    const std::unique_ptr<io::UdpSocket>& front() const { return sockets_.front(); }
    const std::unique_ptr<io::UdpSocket>& back() const { return sockets_.back(); }
    const std::unique_ptr<io::UdpSocket>& operator[](std::size_t index) const { return sockets_[index]; }
    // The socket that corresponds to that of the other process; nullptr if missing.
    io::UdpSocket* find(const ForwardedDatagram& forwarded) const;

    // Datagrams that the kernel dropped before they were read.
    std::uint64_t lost_on_arrival() const;
    // Datagrams that the kernel refused to send.
    std::uint64_t send_failures() const;

private:
    void check_buffers(const io::UdpSocket& socket) const;

    std::string_view protocol_;
    const Log& log_;
    std::vector<std::unique_ptr<io::UdpSocket>> sockets_;
};

}  // namespace live::session
