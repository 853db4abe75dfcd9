// Port: the sockets of WebRTC and the sessions behind them. One UDP port serves everybody: a STUN check finds its session by the
// name it was given in the answer, everything else by the address it comes from, once a check has proved that this address is the
// session's. What sessions say is gathered in one batch and leaves in GSO batches. No fiber and no timer a session: one fiber a
// socket receives, one looks after the time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hot_lines.hpp"
#include "base/log.hpp"
#include "engine/webrtc/datagram_batch.hpp"
#include "engine/webrtc/shared_state.hpp"
#include "io/scope.hpp"
#include "io/udp_socket.hpp"
#include "session/rtc/peer.hpp"
#include "session/rtc/timer_wheel.hpp"

namespace live::session::rtc {

// A connection of RFC 4571 that carries one session's datagrams.
class PortLink {
public:
    // One GSO batch's datagrams. What does not fit is lost. Must not suspend.
    virtual void send(Bytes bytes, std::size_t segment_bytes) = 0;

protected:
    ~PortLink() = default;
};

struct PortFigures {
    std::uint64_t received = 0;  // datagrams, of whatever kind
    std::uint64_t received_bytes = 0;
    std::uint64_t stun = 0;
    std::uint64_t dtls = 0;
    std::uint64_t rtp = 0;
    std::uint64_t rtcp = 0;
    std::uint64_t strangers = 0;  // for no session, or from an address that nobody has proved to be a session's
    std::uint64_t sent = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t unsent = 0;  // the kernel's buffer was full, or there was no way to the address
};

// What is counted, at one moment.
struct PortReading {
    std::size_t sessions = 0;
    PortFigures port{};
    engine::webrtc::SharedState shared{};
    std::uint64_t lost = 0;    // on arrival, see Port::lost_on_arrival
    std::uint64_t unsent = 0;  // and what the kernel refused
};

struct PortMemory {
    std::size_t engine_bytes = 0;
    std::size_t dtls_objects = 0;
    std::size_t paths = 0;
    std::size_t path_bytes = 0;
    std::size_t buffer_bytes = 0;  // of what waits to be sent
};

// What went each way between two readings that are Port::kReportEvery apart, a second. Rounded up: what is rare is not nothing.
std::string report_line(const PortReading& now, const PortReading& then);

class Port {
public:
    static constexpr std::size_t kSessionsMax = 50'000;
    // That lead to one session; as many as the engine remembers.
    static constexpr std::size_t kAddressesMax = 8;
    // An address from which something came so lately is not another session's.
    static constexpr std::chrono::seconds kHolds{10};
    // What the guides set net.core.rmem_max and wmem_max to.
    static constexpr std::size_t kBufferBytes = 16U << 20;
    static constexpr std::chrono::seconds kReportEvery{10};

    Port(TimePoint now, const Log& log) : log_(log), wheel_(now) {}
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    // Opens a UDP endpoint, by so many sockets among which the kernel shares out who comes. Errors as UdpSocket::bind.
    Result<void> listen(const Endpoint& endpoint, std::size_t sockets = 1);
    // Starts the fibers; they end with the scope.
    Result<void> start(io::Scope& scope);
    const std::vector<std::unique_ptr<io::UdpSocket>>& sockets() const { return sockets_; }

    // Errc::limit when there are too many sessions.
    Result<void> check_room() const;
    // Takes it over. Errc::conflict when a session has its name already, Errc::closed when it was retired before, Errc::limit.
    Result<void> add(std::unique_ptr<Peer> peer);
    Peer* find(std::string_view ufrag) const;
    // It is over: it is destroyed as soon as it may go, but not in this call.
    void retire(Peer& peer);
    // What it waits for may have changed outside of its own calls.
    void touch(Peer& peer);
    // Of all sessions. Destroys them.
    void clear();
    std::size_t sessions() const { return peers_.size(); }
    std::size_t half_open() const { return half_open_; }

    // What sessions append to.
    engine::webrtc::DatagramBatch& output() { return output_; }
    // What they count together, and leave out.
    engine::webrtc::SharedState& shared() { return shared_; }
    // Sends what is in it. Never suspends.
    void flush();

    // A datagram that came over a connection; end_batch() behind the last. `link` stays until forget().
    void take_from(PortLink& link, const TransportAddress& from, TimePoint now, MutBytes datagram);
    void end_batch(TimePoint now);
    void forget(PortLink& link);
    // A check has proved that the address is a session's.
    bool leads_somewhere(const TransportAddress& address) const { return paths_.contains(address); }

    // What flush() touches of the way to an address.
    void add_hot_lines(const TransportAddress& to, HotLines& lines) const {
        if (const Path* const path = path_to(to))
            lines.add(path, sizeof *path);
    }

    const PortFigures& figures() const { return figures_; }
    // Datagrams that the kernel dropped before we read them, of all sockets.
    std::uint64_t lost_on_arrival() const;
    PortReading read() const;
    // Looks at every session.
    PortMemory memory() const;

private:
    struct Path {
        Peer* peer = nullptr;
        io::UdpSocket* socket = nullptr;
        PortLink* link = nullptr;
        IpAddress local{};  // of this machine, that the client has reached
        TimePoint heard{};  // when something last came this way
    };
    struct Arrival {
        TransportAddress from;
        Path path;
    };

    void receive(io::UdpSocket& socket, io::Deadline deadline);
    void keep_time(io::Deadline deadline);
    void take(TimePoint now, MutBytes datagram, const Arrival& arrival);
    void take_stun(TimePoint now, MutBytes datagram, const Arrival& arrival);
    void deliver(Peer& peer, TimePoint now, MutBytes datagram, const Arrival& arrival);
    void bind(Peer& peer, const Arrival& arrival, TimePoint now);
    const Path* path_to(const TransportAddress& address) const;
    void send_pending();
    void reschedule(Peer& peer);
    void reap(TimePoint now);
    void report();
    void hint_at_buffers(const io::UdpSocket& socket) const;

    const Log& log_;
    TimerWheel wheel_;
    engine::webrtc::DatagramBatch output_;
    std::vector<std::unique_ptr<io::UdpSocket>> sockets_;
    std::unordered_map<std::string, std::unique_ptr<Peer>> peers_;
    std::unordered_map<TransportAddress, Path, TransportAddress::Hash> paths_;
    std::vector<Peer*> touched_;
    std::vector<Peer*> retired_;
    std::vector<io::GsoBatch> pending_;
    io::UdpSocket* pending_socket_ = nullptr;
    std::optional<Arrival> arrival_;  // what is being answered
    std::size_t half_open_ = 0;
    PortFigures figures_;
    engine::webrtc::SharedState shared_;
    PortReading reported_;
};

}  // namespace live::session::rtc
