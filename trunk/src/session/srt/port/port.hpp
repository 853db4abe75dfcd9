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
#include "base/signal.hpp"
#include "engine/srt/listener.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/udp_socket.hpp"
#include "session/common/forwarded_datagram.hpp"
#include "session/common/udp_sockets.hpp"
#include "session/fan_out/timer_wheel.hpp"
#include "session/srt/port/half_open.hpp"
#include "session/srt/port/link.hpp"

namespace live::session::srt {

// Takes the clients that request a connection. Must not suspend. Port::end_opening is called once for each.
class HandshakeListener {
public:
    // Before open(). Errc::limit: the client is refused.
    virtual Result<HalfOpen::Place> take_place(const engine::srt::Request& request, TimePoint now) = 0;
    virtual void open(engine::srt::Request request, const Path& path) = 0;
    // The client of this fiber has stopped repeating its request: see Port::begin_opening. End it soon, not in this call.
    virtual void give_up(std::uint64_t fiber) = 0;

protected:
    ~HandshakeListener() = default;
};

// A call to another server that has no connection yet. Nothing here may suspend.
class OutgoingCall {
public:
    virtual void take(TimePoint now, Bytes datagram) = 0;

protected:
    ~OutgoingCall() = default;
};

struct PortFigures {
    std::uint64_t received = 0;  // datagrams of any kind
    std::uint64_t received_bytes = 0;
    std::uint64_t handshakes = 0;
    std::uint64_t strangers = 0;  // for no connection, or not from its address
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t unsent = 0;  // the kernel's buffer was full
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t called = 0;  // connections that this server has made
};

// Totals of present and past connections, in packets of media.
struct LinkTotals {
    std::uint64_t received = 0;
    std::uint64_t receive_lost = 0;
    std::uint64_t receive_retransmitted = 0;
    std::uint64_t receive_dropped = 0;
    std::uint64_t sent = 0;
    std::uint64_t send_lost = 0;
    std::uint64_t retransmitted = 0;
    std::uint64_t send_dropped = 0;
    std::uint64_t undecrypted = 0;

    void add(const engine::srt::Figures& figures);
};

// A snapshot of the counters.
struct PortReading {
    std::size_t publishers = 0;
    std::size_t players = 0;
    std::size_t opening = 0;
    PortFigures port;
    LinkTotals links;
    std::uint64_t lost = 0;    // on arrival, see Port::lost_on_arrival
    std::uint64_t unsent = 0;  // refused by the kernel
};

struct PortMemory {
    std::size_t connection_bytes = 0;
    std::size_t buffer_bytes = 0;  // of queued output
};

// Reports the packets between two readings that are Port::kReportEvery apart.
std::string report_line(const PortReading& now, const PortReading& then);

class Port {
public:
    static constexpr std::size_t kLinksMax = 50'000;
    // Interval between checks of waiting clients.
    static constexpr std::chrono::milliseconds kLookEvery{250};
    // A client that does not receive its refusal repeats its request for some seconds.
    static constexpr std::chrono::seconds kRefusalsKept{10};
    static constexpr std::size_t kRefusalsMax = 1'000;
    static constexpr std::chrono::milliseconds kTick{2};
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
    Result<void> listen(const Endpoint& endpoint) { return sockets_.listen(endpoint); }
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
    // The client waits for its admission, which `fiber` requests. It repeats its request several times a second; after `patience`
    // without a repetition it has given up, and HandshakeListener::give_up is called. Zero: never.
    void begin_opening(const engine::srt::Request& request, std::chrono::milliseconds patience, std::uint64_t fiber);
    bool has_given_up(const engine::srt::Request& request) const;
    // Its place counts for this virtual host. Errc::limit.
    Result<void> enter_vhost(const engine::srt::Request& request, const std::string& vhost);
    // The last call for a request: the listener has decided it.
    void end_opening(const engine::srt::Request& request);

    // For calls to other servers, one socket for each IP version, opened with the first call. After start(). Errors as
    // UdpSocket::bind.
    Result<io::UdpSocket*> outgoing_socket(bool is_ipv4);
    // Datagrams of that server for this socket id belong to the call, until end_call().
    void begin_call(OutgoingCall& call, engine::srt::SocketId id, const TransportAddress& to);
    void end_call(const OutgoingCall& call);
    // As add(), of a call that was answered.
    Result<void> add_called(Link& link, std::unique_ptr<engine::srt::Connection> connection, const Path& path);
    // Sends a datagram without a connection at once.
    void send_now(Bytes datagram, const TransportAddress& to, const Path& path);
    // Moves the connection of `from` to `to`. Errc::closed when it has ended.
    Result<void> hand_over(Link& from, Link& to);

    // Its connection was used outside of the port's own calls: output is written into the batch, and its timer is set.
    void service(Link& link, TimePoint now);
    // Timers of others that serve links. As TimerWheel's; none earlier than within a tick.
    void call_at(TimerWheel::Timer& timer, TimePoint due);
    void cancel_call(TimerWheel::Timer& timer) { wheel_.cancel(timer); }
    // Output waiting to be sent.
    const engine::webrtc::DatagramBatch& output() const { return output_; }
    // Sends the queued output. Never suspends.
    void flush();

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
    struct Caller {
        TransportAddress from;
        engine::srt::SocketId socket_id{};

        bool operator==(const Caller&) const = default;
        struct Hash {
            std::size_t operator()(const Caller& caller) const {
                return TransportAddress::Hash()(caller.from) ^ static_cast<std::size_t>(caller.socket_id) * 0x9E37'79B9U;
            }
        };
    };
    using Induction = std::array<std::uint8_t, engine::srt::kHeaderBytes + engine::srt::kHandshakeBytes>;
    struct Called {
        OutgoingCall* call = nullptr;
        TransportAddress to;
    };
    // A client that waits for its admission.
    struct Opened {
        TimePoint asked_at;  // last
        HalfOpen::Place place;
        std::chrono::milliseconds patience{};
        std::uint64_t fiber = 0;

        bool has_given_up(TimePoint now) const { return patience.count() > 0 && now - asked_at > patience; }
    };
    struct Refusal {
        engine::srt::RejectReason reason{};
        TimePoint at;
    };

    static Caller caller_of(const engine::srt::Request& request) { return {request.from, request.socket_id}; }
    void receive(io::UdpSocket& socket, io::Deadline deadline);
    void keep_time(io::Deadline deadline);
    void take(MutBytes datagram, const TransportAddress& from, const Path& path, TimePoint now);
    void forward(Bytes datagram, const TransportAddress& from, const Path& path);
    void take_handshake(Bytes datagram, const TransportAddress& from, const Path& path, TimePoint now);
    void answer(const Induction& induction, const TransportAddress& to, const Path& path);
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
    bool is_outgoing(const io::UdpSocket* socket) const;
    void touch(Link& link);
    void end_batch(TimePoint now);
    void write_output(Link& link, TimePoint now);
    void set_timer(Link& link, TimePoint now);
    void send_pending();
    void look_at_openings(TimePoint now);
    void report(TimePoint now);

    const Log& log_;
    engine::srt::Listener listener_;
    HandshakeListener* handshakes_ = nullptr;
    DatagramForwarding* forwarding_ = nullptr;
    TimerWheel wheel_;
    TimePoint woken_at_;  // by the timer, next
    Signal earlier_;
    engine::webrtc::DatagramBatch output_;
    std::vector<const Link*> receivers_;  // of each GSO batch in it
    UdpSockets sockets_;
    std::array<std::unique_ptr<io::UdpSocket>, 2> outgoing_;  // IPv4, IPv6; those of calls
    io::Scope* scope_ = nullptr;                              // after start()
    std::unordered_map<std::uint32_t, Link*> links_;          // by socket id
    std::unordered_map<std::uint32_t, Called> calls_;         // without a connection yet, by socket id
    std::unordered_map<Caller, Link*, Caller::Hash> callers_;
    std::unordered_map<Caller, Opened, Caller::Hash> opening_;
    TimePoint next_look_;  // at these, while there are any
    std::unordered_map<Caller, Refusal, Caller::Hash> refusals_;
    std::vector<Link*> touched_;
    std::vector<io::GsoBatch> pending_;
    std::array<Induction, io::UdpSocket::kBatch> pending_inductions_;  // bytes of those at the same places in pending_
    io::UdpSocket* pending_socket_ = nullptr;
    PortFigures figures_;
    LinkTotals past_;
    PortReading reported_;
    TimePoint next_report_;
};

}  // namespace live::session::srt
