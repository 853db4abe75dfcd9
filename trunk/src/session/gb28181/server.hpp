// Server: the ports of GB28181 devices and their sessions. Every device sends to the same TCP or UDP port, and its SSRC finds the
// session that the API has opened; a session may also have a port of its own, or be a device that this server connects to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/gb28181/session_table.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/net/udp_socket.hpp"
#include "session/common/traffic.hpp"
#include "session/gb28181/context.hpp"
#include "session/gb28181/device.hpp"
#include "session/gb28181/directory.hpp"

namespace live::session::gb28181 {

class Server final : public Directory {
public:
    // A connection that has not sent a packet with a known SSRC after this time is closed.
    static constexpr std::chrono::seconds kIdentifyMax{5};
    // Asked of the kernel: a key frame of many cameras arrives at once.
    static constexpr std::size_t kBufferBytes = 8U << 20;

    struct Totals {
        std::uint64_t packets = 0;
        std::uint64_t lost = 0;
        std::uint64_t resyncs = 0;
        std::uint64_t strangers = 0;  // packets and connections of no session, or of another device than the session's
        std::uint64_t expired = 0;    // sessions that no device has connected for
    };

    // Everything referred to outlives this. Fibers belong to the two scopes, which are stopped before this is destroyed.
    Server(Context context, io::Scope& listeners, io::Scope& connections, const Log& log);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // The ports of all devices. Errors as Scope::start.
    Result<void> add(std::unique_ptr<io::TcpListener> listener);
    Result<void> add(std::unique_ptr<io::UdpSocket> socket);
    // Expires sessions.
    Result<void> start();
    // No new sessions and connections. Sessions over UDP continue.
    void close();
    // No packets either.
    void stop_receiving();

    // Directory
    Result<OpenedSession> open(OpenRequest request) override;
    Result<void> connect(std::string_view id, const Endpoint& device) override;
    Result<void> close(std::string_view id) override;
    std::vector<ListedSession> list() const override;

    // Datagrams of one batch, at the port of all devices, or at that of a session.
    void take(std::span<const io::Datagram> datagrams, std::string_view own_id, TimePoint now);

    Totals totals() const;
    const Traffic& traffic() const { return traffic_; }
    std::size_t sessions() const { return table_.all().size(); }
    std::size_t publishing() const;
    std::size_t held_bytes() const;

private:
    // The port of one session. Owners: this server, and the fibers that read it.
    struct OwnPort {
        std::unique_ptr<io::TcpListener> listener;
        std::unique_ptr<io::UdpSocket> socket;
        std::uint16_t number = 0;
    };
    // A connection until its session is found.
    struct Arrival {
        std::unique_ptr<io::TcpStream> stream;
        Transport transport = Transport::tcp;
        std::string own_id{};      // the session whose port it has connected to, or which has dialled it
        std::uint64_t number = 0;  // dialled: that of the session
    };

    // 0 for tcp_active.
    std::uint16_t common_port(Transport transport) const;
    Result<std::shared_ptr<OwnPort>> open_port(std::uint16_t number, Transport transport) const;
    Result<void> start_port(const std::shared_ptr<OwnPort>& port, const std::string& id);
    void dial(const std::string& id, std::uint64_t number, const Endpoint& to, io::Deadline deadline);
    // A session whose device has not answered. Not one that has been opened later with the same id.
    void give_up(const std::string& id, std::uint64_t number);
    void receive(io::UdpSocket& socket, const std::string& own_id, io::Deadline deadline);
    void expire(io::Deadline deadline);
    void serve_tcp(Arrival arrival, io::Deadline deadline);
    Result<void> serve_connection(Arrival& arrival, const Log& log, io::Deadline deadline);
    // The session of the first packet, which it has received.
    Result<Device*> identify(Arrival& arrival, engine::gb28181::TcpFrames& frames, io::Deadline deadline);
    Result<Device*> find_device(std::string_view own_id, Transport transport, std::uint32_t ssrc, const TransportAddress& from);
    void serve_udp(Device& device, const TransportAddress& from, io::Deadline deadline);
    Result<void> publish(Device& device, MediaInput& input, const Endpoint& peer, std::string_view protocol, const Log& log,
                         io::Deadline deadline);
    void remove(const std::string& id);
    void note_stranger(const Error& error, std::string_view ip);

    const Context context_;
    io::Scope& listeners_;
    io::Scope& connections_;
    const Log& log_;
    std::vector<std::unique_ptr<io::TcpListener>> tcp_;
    std::vector<std::unique_ptr<io::UdpSocket>> udp_;
    engine::gb28181::SessionTable table_;
    std::map<std::string, std::unique_ptr<Device>, std::less<>> devices_;
    std::map<std::string, std::shared_ptr<OwnPort>, std::less<>> own_ports_;
    Signal opened_;
    std::uint64_t newest_ = 0;  // number of a session
    bool is_closed_ = false;
    Traffic traffic_;
    Totals ended_;  // of sessions that have ended, and of no session
};

}  // namespace live::session::gb28181
