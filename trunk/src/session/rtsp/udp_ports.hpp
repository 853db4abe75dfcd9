// UdpPorts: the two ports of this process for the media of all RTSP sessions over UDP: RTP and, one above it, RTCP. A datagram
// belongs to the session that has registered the address of its sender: that of the client's connection, with the ports that it
// has announced.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/net/transport_address.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/udp_socket.hpp"
#include "session/common/traffic.hpp"
#include "wire/rtsp/transport.hpp"

namespace live::session::rtsp {

// Receives the datagrams of one session. Must not suspend.
class UdpReceiver {
public:
    virtual void on_datagram(std::size_t track, bool is_rtcp, Bytes datagram) = 0;
    // After a batch of them.
    virtual void on_datagrams_end() = 0;

protected:
    ~UdpReceiver() = default;
};

class UdpPorts {
public:
    static constexpr std::size_t kBufferBytes = 4U << 20;
    // Each track has two.
    static constexpr std::size_t kAddressesMax = 100'000;

    enum class Port : std::uint8_t { rtp, rtcp };

    // Everything referred to outlives this.
    UdpPorts(Traffic& traffic, const Log& log) : traffic_(traffic), log_(log) {}
    UdpPorts(const UdpPorts&) = delete;
    UdpPorts& operator=(const UdpPorts&) = delete;

    // Takes the first free pair of ports in the range, of IPv4 and, where the machine has it, of IPv6. Errc::conflict when none
    // is free.
    Result<void> open(std::uint16_t first, std::uint16_t last);
    // Starts the fibers that receive.
    Result<void> start(io::Scope& fibers);
    // nullopt without ports: then there is no UDP.
    std::optional<wire::rtsp::NumberPair> numbers() const { return numbers_; }

    // Registers the ports of a client for a track. Errc::conflict if another session has one of them, Errc::limit.
    Result<void> add(const IpAddress& ip, wire::rtsp::NumberPair client, UdpReceiver& receiver, std::size_t track);
    void remove(const UdpReceiver& receiver);
    std::size_t addresses() const { return owners_.size(); }

    // Sends to addresses of one IP version; what the kernel does not take is lost. Never suspends.
    void send(Port port, std::span<const io::GsoBatch> batches);

private:
    struct Owner {
        UdpReceiver* receiver = nullptr;
        std::size_t track = 0;
        bool is_rtcp = false;
    };
    struct Pair {
        std::unique_ptr<io::UdpSocket> rtp;
        std::unique_ptr<io::UdpSocket> rtcp;
    };

    static Result<Pair> bind(const char* ip, std::uint16_t port);
    void receive(io::UdpSocket& socket, io::UdpSocket* reports, io::Deadline deadline);
    void deliver(std::span<const io::Datagram> datagrams);

    Traffic& traffic_;
    const Log& log_;
    std::array<Pair, 2> pairs_;  // IPv4, IPv6
    std::optional<wire::rtsp::NumberPair> numbers_;
    std::unordered_map<TransportAddress, Owner, TransportAddress::Hash> owners_;
    std::vector<UdpReceiver*> touched_;  // scratch, kept for its memory
};

}  // namespace live::session::rtsp
