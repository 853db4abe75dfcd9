// Port: the sockets of SRT and their connections. A datagram finds its connection by socket id, and is dropped when it comes from
// another address than the connection's: socket ids are no secret. Output of all connections is gathered in one batch and sent in
// GSO batches. One fiber per socket receives, one handles timeouts; handshakes keep no memory until a client has proved its
// address and is handed to the listener.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "engine/srt/listener.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/udp_socket.hpp"
#include "session/common/forwarded_datagram.hpp"
#include "session/common/udp_sockets.hpp"
#include "session/srt/port/calls.hpp"
#include "session/srt/port/figures.hpp"
#include "session/srt/port/half_open.hpp"
#include "session/srt/port/link.hpp"
#include "session/srt/port/link_timers.hpp"
#include "session/srt/port/openings.hpp"
#include "session/srt/port/output.hpp"

namespace live::session::srt {

// Takes the clients that request a connection. Must not suspend. Openings::remove is called once for each.
class HandshakeListener {
public:
    // Before open(). Errc::limit: the client is refused.
    virtual Result<HalfOpen::Place> take_place(const engine::srt::Request& request, TimePoint now) = 0;
    virtual void open(engine::srt::Request request, const Path& path) = 0;
    // The client of this fiber has stopped repeating its request: see Openings::begin. End it soon, not in this call.
    virtual void give_up(std::uint64_t fiber) = 0;

protected:
    ~HandshakeListener() = default;
};

class Port {
public:
    static constexpr std::size_t kLinksMax = 50'000;
    // A socket with concurrent traffic is not read again for this long: a system call, a flush and a turn of the loop for each
    // datagram cost more than handling it. Compared to the latency of a connection and the 10 ms between ACKs the delay is
    // negligible.
    static constexpr std::chrono::milliseconds kGather{1};
    static constexpr std::chrono::seconds kReportEvery{10};

    Port(TimePoint now, const Log& log);
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    // As UdpSockets::listen, before start().
    Result<void> listen(const Endpoint& endpoint);
    void set_handshake_listener(HandshakeListener& listener) { handshakes_ = &listener; }
    void set_key_bytes(std::size_t bytes) { listener_.set_key_bytes(bytes); }
    // Starts the fibers; they end with the scope.
    Result<void> start(io::Scope& scope);
    const UdpSockets& sockets() const { return sockets_; }

    // Receives datagrams for no connection here. nullptr: they are dropped.
    void set_forwarding(DatagramForwarding* forwarding) { forwarding_ = forwarding; }
    // Handles a datagram that another process, the current owner of the sockets, received on one of them.
    void take_forwarded(const ForwardedDatagram& forwarded, TimePoint now, MutBytes datagram);

    // A random socket id that is not in use.
    engine::srt::SocketId free_socket_id() const;
    // The response leaves at the end of the batch, or with the next flush. Errc::limit when there are too many connections; then
    // nothing has changed.
    Result<void> add(Link& link, std::unique_ptr<engine::srt::Connection> connection, const engine::srt::Request& request,
                     const Path& path);
    // Sends a shutdown and destroys the connection. No effect without one.
    void remove(Link& link);
    void refuse(const engine::srt::Request& request, const Path& path, engine::srt::RejectReason reason);
    // Clients that wait for their admission: the listener begins and removes them.
    Openings& openings() { return openings_; }

    // For calls to other servers, one socket for each IP version, opened with the first call. After start(). Errors as
    // UdpSocket::bind.
    Result<io::UdpSocket*> outgoing_socket(bool is_ipv4);
    OutgoingCalls& calls() { return calls_; }
    // Like add(), for an outgoing call that was answered.
    Result<void> add_called(Link& link, std::unique_ptr<engine::srt::Connection> connection, const Path& path);
    // Moves the connection of `from` to `to`. Errc::closed when it has ended.
    Result<void> hand_over(Link& from, Link& to);

    // Its connection was used outside of the port's own calls: output is written into the batch, and its timer is set.
    void service(Link& link, TimePoint now);
    // Also for the timers of others that serve links.
    LinkTimers& timers() { return timers_; }
    PortOutput& output() { return output_; }

    std::size_t links() const { return links_.size(); }
    const PortFigures& figures() const { return figures_; }
    std::uint64_t lost_on_arrival() const;
    PortReading read() const;
    PortMemory memory() const;

    // For tests: one received batch.
    void take(std::span<const io::Datagram> datagrams, io::UdpSocket& socket, TimePoint now);
    void advance(TimePoint now);

private:
    friend class Link;
    void receive(io::UdpSocket& socket, io::Deadline deadline);
    void read_arrived(TimePoint now);
    void keep_time(io::Deadline deadline);
    void take(MutBytes datagram, const TransportAddress& from, const Path& path, TimePoint now);
    void forward(Bytes datagram, const TransportAddress& from, const Path& path);
    void take_handshake(Bytes datagram, const TransportAddress& from, const Path& path, TimePoint now);
    void take_request(engine::srt::Request request, const Path& path, TimePoint now);
    Result<void> insert(Link& link, std::unique_ptr<engine::srt::Connection> connection, const Path& path);
    template <class Visit>
    void for_each_socket(Visit visit) const {
        for (const auto& socket : sockets_)
            visit(*socket);
        for (const auto& socket : outgoing_)
            if (socket != nullptr)
                visit(*socket);
    }
    void touch(Link& link);
    void end_batch(TimePoint now);
    void report(TimePoint now);

    const Log& log_;
    engine::srt::Listener listener_;
    HandshakeListener* handshakes_ = nullptr;
    DatagramForwarding* forwarding_ = nullptr;
    LinkTimers timers_;
    PortFigures figures_;
    PortOutput output_{figures_};
    UdpSockets sockets_;
    std::array<std::unique_ptr<io::UdpSocket>, 2> outgoing_;  // IPv4, IPv6; those of calls
    io::Scope* scope_ = nullptr;                              // after start()
    std::unordered_map<std::uint32_t, Link*> links_;          // by socket id
    OutgoingCalls calls_;
    std::unordered_map<PeerKey, Link*, PeerKey::Hash> callers_;
    Openings openings_;
    std::vector<Link*> touched_;
    LinkTotals past_;
    PortReading reported_;
    TimePoint next_report_;
};

}  // namespace live::session::srt
