// Port: the sockets of WebRTC and their sessions. One UDP port serves all sessions: a STUN check finds its session by the ufrag
// given in the answer, everything else by its source address, once a check has proved that this address is the session's. The
// sessions' output is gathered in one batch and sent in GSO batches. No fiber and no timer per session: one fiber per socket
// receives, one handles timeouts, one what sessions had done in worker threads.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes/hot_lines.hpp"
#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "engine/webrtc/shared_state.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/udp_socket.hpp"
#include "session/common/forwarded_datagram.hpp"
#include "session/common/udp_sockets.hpp"
#include "session/fan_out/timer_wheel.hpp"
#include "session/rtc/transport/peer.hpp"

namespace live::session::rtc {

// A connection of RFC 4571 that carries one session's datagrams.
class PortLink {
public:
    // Sends the datagrams of one GSO batch. Those that do not fit are lost. Must not suspend.
    virtual void send(Bytes bytes, std::size_t segment_bytes) = 0;

protected:
    ~PortLink() = default;
};

struct PortFigures {
    std::uint64_t received = 0;  // datagrams of any kind
    std::uint64_t received_bytes = 0;
    std::uint64_t stun = 0;
    std::uint64_t dtls = 0;
    std::uint64_t rtp = 0;
    std::uint64_t rtcp = 0;
    std::uint64_t strangers = 0;  // for no session, or from an address not proved to be a session's
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t unsent = 0;  // the kernel's buffer was full, or the address had no path
};

// A snapshot of the counters.
struct PortReading {
    std::size_t sessions = 0;
    PortFigures port{};
    engine::webrtc::SharedState shared{};
    std::uint64_t lost = 0;    // on arrival, see Port::lost_on_arrival
    std::uint64_t unsent = 0;  // refused by the kernel
};

struct PortMemory {
    std::size_t engine_bytes = 0;
    std::size_t dtls_objects = 0;
    std::size_t paths = 0;
    std::size_t path_bytes = 0;
    std::size_t buffer_bytes = 0;  // of queued output
};

// Rates per second in both directions between two readings that are Port::kReportEvery apart. Rounded up, so that rare events do
// not show as zero.
std::string report_line(const PortReading& now, const PortReading& then);

class Port {
public:
    static constexpr std::size_t kSessionsMax = 50'000;
    // Per session; as many as the engine remembers.
    static constexpr std::size_t kAddressesMax = 8;
    // An address that was active within this time is not taken over by another session.
    static constexpr std::chrono::seconds kHolds{10};
    // Destroyed at once, because each takes some 50 us (its DTLS connection): a thousand may end at the same moment.
    static constexpr std::size_t kReapedAtOnce = 32;
    static constexpr std::chrono::seconds kReportEvery{10};

    Port(TimePoint now, const Log& log) : log_(log), wheel_(now), sockets_("rtc", log) {}
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    // As UdpSockets::listen, before start().
    Result<void> listen(const Endpoint& endpoint, std::size_t sockets = 1) { return sockets_.listen(endpoint, sockets); }
    // Starts the fibers; they end with the scope.
    Result<void> start(io::Scope& scope);
    const UdpSockets& sockets() const { return sockets_; }

    // Receives UDP datagrams for no session here. nullptr: they are dropped.
    void set_forwarding(DatagramForwarding* forwarding) { forwarding_ = forwarding; }
    // Handles a datagram that another process, the current owner of the sockets, received on one of them.
    void take_forwarded(const ForwardedDatagram& forwarded, TimePoint now, MutBytes datagram);

    // Errc::limit when there are too many sessions.
    Result<void> check_room() const;
    // Takes ownership. Errc::conflict when a session already has its name, Errc::closed when it was retired before, Errc::limit.
    Result<void> add(std::unique_ptr<Peer> peer);
    Peer* find(std::string_view ufrag) const;
    // The session is over: it is destroyed as soon as it may go, but not in this call.
    void retire(Peer& peer);
    // Its timeout may have changed outside of its own calls.
    void touch(Peer& peer);
    // Its Peer::finish_step() is to be called, soon, but not in this call.
    void add_stepped(Peer& peer);
    // Destroys all sessions.
    void clear();
    std::size_t sessions() const { return peers_.size(); }
    std::size_t half_open() const { return half_open_; }

    // Sessions append their output here.
    engine::webrtc::DatagramBatch& output() { return output_; }
    // Counters and load-shedding state shared by all sessions.
    engine::webrtc::SharedState& shared() { return shared_; }
    // Sends the queued output. Never suspends.
    void flush();

    // A datagram received over a connection; call end_batch() after the last one. `link` must live until forget().
    void take_from(PortLink& link, const TransportAddress& from, TimePoint now, MutBytes datagram);
    void end_batch(TimePoint now);
    void forget(PortLink& link);
    // Whether a check has proved that the address is a session's.
    bool leads_somewhere(const TransportAddress& address) const { return paths_.contains(address); }

    // Memory touched by flush() on the path to an address.
    void add_hot_lines(const TransportAddress& to, HotLines& lines) const {
        if (const Path* const path = path_to(to))
            lines.add(path, sizeof *path);
    }

    const PortFigures& figures() const { return figures_; }
    PortReading read() const;
    // Visits every session.
    PortMemory memory() const;

private:
    struct Path {
        Peer* peer = nullptr;
        io::UdpSocket* socket = nullptr;
        PortLink* link = nullptr;
        IpAddress local{};        // the local address the client has reached
        TimePoint received_at{};  // when something last arrived on this path
    };
    struct Arrival {
        TransportAddress from;
        Path path;
    };

    void receive(io::UdpSocket& socket, io::Deadline deadline);
    void keep_time(io::Deadline deadline);
    void finish_steps(io::Deadline deadline);
    void take(TimePoint now, MutBytes datagram, const Arrival& arrival);
    void forward(Bytes datagram, const Arrival& arrival);
    void take_stun(TimePoint now, MutBytes datagram, const Arrival& arrival);
    void deliver(Peer& peer, TimePoint now, MutBytes datagram, const Arrival& arrival);
    void bind(Peer& peer, const Arrival& arrival, TimePoint now);
    const Path* path_to(const TransportAddress& address) const;
    void send_pending();
    void reschedule(Peer& peer);
    void reap(TimePoint now, std::size_t at_once);
    void report();

    const Log& log_;
    TimerWheel wheel_;
    engine::webrtc::DatagramBatch output_;
    UdpSockets sockets_;
    std::unordered_map<std::string, std::unique_ptr<Peer>> peers_;
    std::unordered_map<TransportAddress, Path, TransportAddress::Hash> paths_;
    std::vector<Peer*> touched_;
    std::vector<Peer*> retired_;
    std::deque<Peer*> stepped_;
    Signal step_wake_;
    std::vector<io::GsoBatch> pending_;
    io::UdpSocket* pending_socket_ = nullptr;
    std::optional<Arrival> arrival_;  // the check being answered
    std::size_t half_open_ = 0;
    std::size_t batches_in_hand_ = 0;  // read from a socket, and not taken to the end
    DatagramForwarding* forwarding_ = nullptr;
    PortFigures figures_;
    engine::webrtc::SharedState shared_;
    PortReading reported_;
};

}  // namespace live::session::rtc
