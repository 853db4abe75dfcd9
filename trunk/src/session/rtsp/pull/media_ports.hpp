// MediaPorts: the UDP ports of one pull: two for each track, as cameras expect. Packets of the camera's address and ports go to
// the receiver; others are counted and dropped.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/net/ip_network.hpp"
#include "base/result.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/udp_socket.hpp"
#include "session/rtsp/pull/pull_options.hpp"
#include "session/rtsp/udp_ports.hpp"

namespace live::session::rtsp {

class MediaReceiver : public UdpReceiver {
public:
    // Whether players wait for each packet.
    virtual bool is_awaited() const = 0;

protected:
    ~MediaReceiver() = default;
};

class MediaPorts {
public:
    // For bursts of key frames.
    static constexpr std::size_t kBufferBytes = 1U << 20;
    // Datagrams that arrive meanwhile are read together if no player waits for them.
    static constexpr std::chrono::milliseconds kGather{10};

    // Memory that all ports of the process receive into; its owners are their sockets and the dialler.
    using Inbox = std::shared_ptr<io::UdpSocket::Inbox>;

    // `receiver` outlives this. stop() must have returned before this is destroyed.
    MediaPorts(MediaReceiver& receiver, const PullOptions& options) : receiver_(receiver), options_(options) {}
    MediaPorts(const MediaPorts&) = delete;
    MediaPorts& operator=(const MediaPorts&) = delete;

    // Takes two ports for each of `tracks` at the address `local_ip`. Errc::conflict when the range has none left, errors as
    // UdpSocket::bind.
    Result<void> open(std::size_t tracks, const std::string& local_ip, Inbox& inbox);
    std::vector<wire::rtsp::NumberPair> numbers() const;
    // Receives the packets of the pair `index` for a track: those of `camera`, and of the ports that it has announced.
    Result<void> start(std::size_t index, std::size_t track, const IpAddress& camera,
                       const std::optional<wire::rtsp::NumberPair>& ports);
    // Sends to the camera: to its ports, or to those from which it sends. Never suspends.
    void send(std::size_t track, UdpPorts::Port port, Bytes datagram);
    Result<void> stop(io::Deadline deadline);

    std::uint64_t refused() const { return refused_; }

private:
    struct Port {
        std::unique_ptr<io::UdpSocket> socket;
        std::size_t track = 0;
        bool is_rtcp = false;
        IpAddress camera;
        std::uint16_t from = 0;  // the camera's port; 0: unknown
        bool takes_any = false;  // port of the camera
    };

    Result<void> open_pair(const std::string& ip);
    Result<void> bind_pair(const std::string& ip, std::uint16_t port);
    void receive(Port& port, io::Deadline deadline);

    MediaReceiver& receiver_;
    const PullOptions options_;
    std::vector<Port> ports_;  // RTP and RTCP of each pair, in turn
    std::uint64_t refused_ = 0;
    io::Scope fibers_{"rtsp-pull-udp"};
};

}  // namespace live::session::rtsp
