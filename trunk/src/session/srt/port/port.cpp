#include "session/srt/port/port.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "session/common/read_tick.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

namespace {

// Returns the local address to send from. For clients on a link-local address the kernel chooses it, because UdpSocket does not
// accept a link-local one.
IpAddress local_for_answers(const IpAddress& local) {
    const bool is_link_local = local.bytes[0] == 0xFE && (local.bytes[1] & 0xC0) == 0x80;
    return is_link_local ? IpAddress() : local;
}

// Waits until the socket is read again.
Result<void> gather(io::UdpSocket& socket, ReadTick& ticks, std::chrono::milliseconds interval, std::size_t received,
                    TimePoint now) {
    if (interval <= Port::kGather)
        return socket.gather_until(io::Deadline::at(now + Port::kGather));
    // The other half of the buffer is for what arrives while this fiber waits for its turn.
    const auto room = [&socket] { return socket.buffers().receive / 2; };
    return socket.gather_until(io::Deadline::at(ticks.next(now, interval, received, room)));
}

}  // namespace

void Link::on_due(TimePoint now) {
    due_ = TimePoint::max();
    connection_->handle_timeout(now);
    port_->touch(*this);
}

Port::Port(TimePoint now, const Log& log)
    : log_(log),
      listener_(srt::Listener::random_secret()),
      timers_(now),
      sockets_("srt", log),
      next_report_(now + kReportEvery) {}

Port::~Port() { CHECK(links_.empty()); }

Result<void> Port::listen(const Endpoint& endpoint) {
    TRY(sockets_.listen(endpoint));
    return sockets_.back()->stamp_arrivals();
}

Result<void> Port::start(io::Scope& scope) {
    scope_ = &scope;
    for (const auto& socket : sockets_)
        TRY(scope.start("srt-receive", [this, &socket = *socket](io::Deadline forever) { receive(socket, forever); }));
    return scope.start("srt-time", [this](io::Deadline forever) { keep_time(forever); });
}

void Port::receive(io::UdpSocket& socket, io::Deadline deadline) {
    constexpr std::chrono::milliseconds kPause{100};
    ReadTick ticks;
    std::size_t received = 0;
    TimePoint last{};
    for (;;) {
        const auto datagrams = socket.receive(deadline);
        if (datagrams.ok()) {
            const TimePoint now = io::now();
            const bool is_busy = datagrams->size() > 1 || now - last < std::max(2 * timers_.read_interval(now), kGather);
            const bool is_behind = datagrams->size() == io::UdpSocket::kBatch;
            last = now;
            take(*datagrams, socket, now);
            received += io::kernel_bytes(*datagrams);
            if (is_busy && !is_behind && !gather(socket, ticks, timers_.read_interval(now), std::exchange(received, 0), now).ok())
                return;
            if (io::is_turn_over() && !io::yield(deadline).ok())
                return;
            continue;
        }
        if (datagrams.code() == Errc::cancelled || datagrams.code() == Errc::closed)
            return;
        LOG_WARN(log_, "srt receive: {}", datagrams.error().text());
        if (!io::sleep(io::Deadline::after(kPause)).ok())
            return;
    }
}

// Before payloads are delivered or given up: those that are late may have arrived in time.
void Port::read_arrived(TimePoint now) {
    for_each_socket([this, now](io::UdpSocket& socket) {
        while (!io::is_turn_over()) {
            const auto datagrams = socket.take_arrived();
            if (!datagrams.ok() || datagrams->empty())
                return;
            take(*datagrams, socket, now);
        }
    });
}

void Port::keep_time(io::Deadline deadline) {
    io::ReadFirst read_first;
    for (;;) {
        if (!timers_.wait(std::min(next_report_, openings_.next_look()), deadline).ok())
            return;
        const auto are_dry = [this] {
            bool all = true;
            for_each_socket([&all](const io::UdpSocket& socket) { all = all && socket.is_read_dry(); });
            return all;
        };
        if (!read_first.wait(are_dry, deadline).ok())
            return;
        const TimePoint now = io::now();
        if (timers_.read_interval(now) > Duration())
            read_arrived(now);
        advance(now);
        if (io::is_turn_over() && !io::yield(deadline).ok())
            return;
    }
}

void Port::advance(TimePoint now) {
    timers_.advance(now);
    end_batch(now);
    // An opening releases its place as soon as its fiber has ended; a callback for it may take much longer.
    openings_.look(now, [this](std::uint64_t fiber) { handshakes_->give_up(fiber); });
    if (now >= next_report_)
        report(now);
}

void Port::take(std::span<const io::Datagram> datagrams, io::UdpSocket& socket, TimePoint now) {
    for (const io::Datagram& datagram : datagrams)
        take(datagram.bytes, datagram.from, {&socket, local_for_answers(datagram.to)},
             datagram.arrived == TimePoint() ? now : datagram.arrived);
    end_batch(now);
}

void Port::take(MutBytes datagram, const TransportAddress& from, const Path& path, TimePoint now) {
    ++figures_.received;
    figures_.received_bytes += datagram.size();
    const auto to = srt::destination_of(datagram);
    if (to && *to == srt::SocketId{})
        return take_handshake(datagram, from, path, now);
    const auto found = to ? links_.find(static_cast<std::uint32_t>(*to)) : links_.end();
    if (to && found == links_.end())
        if (OutgoingCall* const call = calls_.find(*to, from))
            return call->take(now, datagram);
    if (found == links_.end() || !found->second->connection_->is_peer(from))
        return forward(datagram, from, path);
    Link& link = *found->second;
    link.connection_->handle_datagram(now, datagram);
    link.on_datagram();
    if (!timers_.defer(link, now))
        touch(link);
}

void Port::take_handshake(Bytes datagram, const TransportAddress& from, const Path& path, TimePoint now) {
    timers_.note_handshake(now);
    const bool is_outgoing =
        std::ranges::any_of(outgoing_, [&path](const auto& socket) { return socket != nullptr && socket.get() == path.socket; });
    if (is_outgoing) {
        ++figures_.strangers;
        return;
    }
    PortOutput::Induction induction{};
    if (listener_.answer_induction(now, datagram, from, induction) > 0) {
        ++figures_.handshakes;
        return output_.answer(induction, from, path);
    }
    auto outcome = listener_.handle_datagram(now, datagram, from);
    if (const auto* reply = std::get_if<std::vector<std::uint8_t>>(&outcome)) {
        ++figures_.handshakes;
        return output_.send_now(*reply, from, path);
    }
    if (auto* request = std::get_if<srt::Request>(&outcome)) {
        ++figures_.handshakes;
        return take_request(std::move(*request), path, now);
    }
    forward(datagram, from, path);
}

void Port::forward(Bytes datagram, const TransportAddress& from, const Path& path) {
    ++figures_.strangers;
    if (forwarding_ == nullptr || path.socket == nullptr)
        return;
    const Endpoint& local = path.socket->endpoint();
    forwarding_->pass({ForwardedDatagram::Protocol::srt, local.is_ipv6(), local.port, from, path.local}, datagram);
}

void Port::take_forwarded(const ForwardedDatagram& forwarded, TimePoint now, MutBytes datagram) {
    io::UdpSocket* const socket = sockets_.find(forwarded);
    if (socket == nullptr)
        return;
    // It is not forwarded again: the other process has passed it to every candidate itself.
    DatagramForwarding* const forwarding = std::exchange(forwarding_, nullptr);
    take(datagram, forwarded.from, {socket, forwarded.to}, now);
    end_batch(now);
    forwarding_ = forwarding;
}

// A client repeats its request until it is answered.
void Port::take_request(srt::Request request, const Path& path, TimePoint now) {
    const PeerKey caller = PeerKey::of(request);
    if (const auto link = callers_.find(caller); link != callers_.end()) {
        if (link->second->cookie_ == request.cookie) {
            link->second->connection_->repeat_response();
            touch(*link->second);
        }
        return;
    }
    if (openings_.note_repeated(caller, now))
        return;
    if (const auto reason = openings_.refusal_of(caller))
        return output_.send_now(srt::refuse(request, *reason), request.from, path);
    auto place = handshakes_ == nullptr ? Result<HalfOpen::Place>(Error(Errc::closed, "nobody takes clients"))
                                        : handshakes_->take_place(request, now);
    if (!place.ok()) {
        ++figures_.refused;
        return output_.send_now(srt::refuse(request, srt::RejectReason::overload), request.from, path);
    }
    openings_.add(caller, *std::move(place), now);
    timers_.wake_by(openings_.next_look());
    handshakes_->open(std::move(request), path);
}

srt::SocketId Port::free_socket_id() const {
    for (;;) {
        // libsrt's are below 2^30.
        const auto id = static_cast<std::uint32_t>(random_number()) & 0x3FFF'FFFF;
        if (id != 0 && !links_.contains(id) && !calls_.contains(srt::SocketId{id}))
            return srt::SocketId{id};
    }
}

Result<void> Port::add(Link& link, std::unique_ptr<srt::Connection> connection, const srt::Request& request, const Path& path) {
    TRY(insert(link, std::move(connection), path));
    link.cookie_ = request.cookie;
    openings_.remove(PeerKey::of(request));
    ++figures_.accepted;
    return {};
}

Result<void> Port::add_called(Link& link, std::unique_ptr<srt::Connection> connection, const Path& path) {
    TRY(insert(link, std::move(connection), path));
    ++figures_.called;
    return {};
}

Result<void> Port::insert(Link& link, std::unique_ptr<srt::Connection> connection, const Path& path) {
    CHECK(link.port_ == nullptr);
    if (links_.size() >= kLinksMax)
        return Error(Errc::limit, "there are too many SRT connections");
    const TransportAddress peer = connection->peer();
    const auto id = static_cast<std::uint32_t>(connection->socket_id());
    if (links_.contains(id) || !callers_.try_emplace({peer, connection->peer_socket_id()}, &link).second)
        return Error(Errc::conflict, "the client has a connection already");
    links_.emplace(id, &link);
    link.connection_ = std::move(connection);
    link.port_ = this;
    link.path_ = path;
    timers_.add(link);
    service(link, io::now());
    output_.flush();
    return {};
}

Result<io::UdpSocket*> Port::outgoing_socket(bool is_ipv4) {
    std::unique_ptr<io::UdpSocket>& known = outgoing_[is_ipv4 ? 0 : 1];
    if (known != nullptr)
        return known.get();
    CHECK(scope_ != nullptr);
    auto socket = TRY(io::UdpSocket::bind({is_ipv4 ? "0.0.0.0" : "::", 0}, UdpSockets::kBufferBytes));
    TRY(socket->stamp_arrivals());
    TRY(scope_->start("srt-receive", [this, &one = *socket](io::Deadline forever) { receive(one, forever); }));
    known = std::move(socket);
    return known.get();
}

Result<void> Port::hand_over(Link& from, Link& to) {
    CHECK(to.port_ == nullptr);
    if (from.port_ == nullptr || from.is_over_)
        return Error(Errc::closed, "the connection is over already");
    output_.flush();  // its pending datagrams need a path, which moves with the connection
    timers_.move(from, to);
    std::erase(touched_, &from);
    to.connection_ = std::move(from.connection_);
    to.port_ = std::exchange(from.port_, nullptr);
    to.path_ = from.path_;
    links_[static_cast<std::uint32_t>(to.connection_->socket_id())] = &to;
    callers_[{to.connection_->peer(), to.connection_->peer_socket_id()}] = &to;
    service(to, io::now());
    output_.flush();
    return {};
}

void Port::remove(Link& link) {
    if (link.port_ == nullptr)
        return;
    const srt::Connection& connection = *link.connection_;
    link.connection_->close();
    output_.write(link, io::now());
    output_.flush();
    past_.add(connection.figures());
    timers_.remove(link);
    std::erase(touched_, &link);
    links_.erase(static_cast<std::uint32_t>(connection.socket_id()));
    callers_.erase({connection.peer(), connection.peer_socket_id()});
    link.port_ = nullptr;
    link.connection_.reset();
}

void Port::refuse(const srt::Request& request, const Path& path, srt::RejectReason reason) {
    ++figures_.refused;
    openings_.add_refusal(PeerKey::of(request), reason, io::now());
    output_.send_now(srt::refuse(request, reason), request.from, path);
}

void Port::touch(Link& link) {
    if (!std::exchange(link.is_touched_, true))
        touched_.push_back(&link);
}

void Port::end_batch(TimePoint now) {
    // A publisher's batch may touch others.
    for (std::size_t i = 0; i < touched_.size(); ++i) {
        Link& link = *touched_[i];
        link.is_touched_ = false;
        link.on_input(now);
        service(link, now);
    }
    touched_.clear();
    output_.flush();
}

void Port::service(Link& link, TimePoint now) {
    output_.write(link, now);
    if (link.connection_->is_open() || link.is_over_)
        return timers_.set(link, now);
    link.is_over_ = true;
    timers_.cancel(link);
    link.on_over();
}

std::uint64_t Port::lost_on_arrival() const {
    std::uint64_t lost = 0;
    for_each_socket([&lost](const io::UdpSocket& socket) { lost += socket.lost_on_arrival(); });
    return lost;
}

PortReading Port::read() const {
    PortReading reading;
    reading.opening = openings_.size();
    reading.port = figures_;
    reading.links = past_;
    for (const auto& [id, link] : links_) {
        ++(link->is_publisher() ? reading.publishers : reading.players);
        reading.links.add(link->connection_->figures());
    }
    reading.lost = lost_on_arrival();
    reading.unsent = figures_.unsent;
    for_each_socket([&reading](const io::UdpSocket& socket) { reading.unsent += socket.counters().sent_failed; });
    return reading;
}

PortMemory Port::memory() const {
    PortMemory memory;
    for (const auto& [id, link] : links_)
        memory.connection_bytes += link->connection_->held_bytes();
    memory.buffer_bytes = output_.batch().capacity_bytes();
    return memory;
}

void Port::report(TimePoint now) {
    next_report_ = now + kReportEvery;
    openings_.drop_old_refusals(now);
    const PortReading reading = read();
    if (!links_.empty() || reading.port.received != reported_.port.received)
        LOG_INFO(log_, "{}", report_line(reading, reported_));
    reported_ = reading;
}

}  // namespace live::session::srt
