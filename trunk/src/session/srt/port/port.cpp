#include "session/srt/port/port.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

namespace {

// For clients on a link-local address the kernel chooses another one; UdpSocket takes none of these.
IpAddress local_for_answers(const IpAddress& local) {
    const bool is_link_local = local.bytes[0] == 0xFE && (local.bytes[1] & 0xC0) == 0x80;
    return is_link_local ? IpAddress() : local;
}

}  // namespace

void LinkTotals::add(const srt::Figures& figures) {
    received += figures.received;
    receive_lost += figures.receive_lost;
    receive_retransmitted += figures.received_retransmitted;
    receive_dropped += figures.receive_dropped;
    sent += figures.sent;
    send_lost += figures.send_lost;
    retransmitted += figures.retransmitted;
    send_dropped += figures.send_dropped;
    undecrypted += figures.undecrypted;
}

std::string report_line(const PortReading& now, const PortReading& then) {
    const auto links = [&](std::uint64_t LinkTotals::*figure) { return now.links.*figure - then.links.*figure; };
    return fmt::format(
        "SRT: Server conns={}, pub={}, play={}, Transport Stats # pktRecv={}, pktRcvLoss={}, pktRcvRetrans={}, pktRcvDrop={}, "
        "pktSent={}, pktSndLoss={}, pktRetrans={}, pktSndDrop={}, unknown={}, loss=(r:{},s:{})",
        now.publishers + now.players, now.publishers, now.players, links(&LinkTotals::received), links(&LinkTotals::receive_lost),
        links(&LinkTotals::receive_retransmitted), links(&LinkTotals::receive_dropped), links(&LinkTotals::sent),
        links(&LinkTotals::send_lost), links(&LinkTotals::retransmitted), links(&LinkTotals::send_dropped),
        now.port.strangers - then.port.strangers, now.lost - then.lost, now.unsent - then.unsent);
}

void Link::on_due(TimePoint now) {
    connection_->handle_timeout(now);
    port_->touch(*this);
}

Port::Port(TimePoint now, const Log& log)
    : log_(log),
      listener_(srt::Listener::random_secret()),
      wheel_(now, kTick),
      woken_at_(now),
      sockets_("srt", log),
      next_report_(now + kReportEvery) {}

Port::~Port() { CHECK(links_.empty()); }

Result<void> Port::start(io::Scope& scope) {
    scope_ = &scope;
    for (const auto& socket : sockets_)
        TRY(scope.start("srt-receive", [this, &socket = *socket](io::Deadline forever) { receive(socket, forever); }));
    return scope.start("srt-time", [this](io::Deadline forever) { keep_time(forever); });
}

void Port::receive(io::UdpSocket& socket, io::Deadline deadline) {
    constexpr std::chrono::milliseconds kPause{100};
    TimePoint last{};
    for (;;) {
        const auto datagrams = socket.receive(deadline);
        if (datagrams.ok()) {
            const TimePoint now = io::now();
            const bool is_busy = datagrams->size() > 1 || now - last < kGather;
            const bool is_behind = datagrams->size() == io::UdpSocket::kBatch;
            last = now;
            take(*datagrams, socket, now);
            if (is_busy && !is_behind && !socket.let_gather(io::Deadline::at(now + kGather)).ok())
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

void Port::keep_time(io::Deadline deadline) {
    io::ReadFirst read_first;
    for (;;) {
        woken_at_ = std::min(wheel_.next().value_or(next_report_), next_report_);
        if (!opening_.empty())
            woken_at_ = std::min(woken_at_, next_look_);
        const auto woken = io::wait(earlier_, deadline.sooner(io::Deadline::at(woken_at_)));
        if (!woken.ok() && woken.code() != Errc::timed_out)
            return;
        const auto are_dry = [this] {
            bool all = true;
            for_each_socket([&all](const io::UdpSocket& socket) { all = all && socket.is_read_dry(); });
            return all;
        };
        if (!read_first.wait(are_dry, deadline).ok())
            return;
        advance(io::now());
        if (io::is_turn_over() && !io::yield(deadline).ok())
            return;
    }
}

void Port::advance(TimePoint now) {
    wheel_.advance(now);
    end_batch(now);
    if (!opening_.empty() && now >= next_look_)
        look_at_openings(now);
    if (now >= next_report_)
        report(now);
}

void Port::take(std::span<const io::Datagram> datagrams, io::UdpSocket& socket, TimePoint now) {
    for (const io::Datagram& datagram : datagrams)
        take(datagram.bytes, datagram.from, {&socket, local_for_answers(datagram.to)}, now);
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
        if (const auto calling = calls_.find(static_cast<std::uint32_t>(*to));
            calling != calls_.end() && calling->second.to == from)
            return calling->second.call->take(now, datagram);
    if (found == links_.end() || !found->second->connection_->is_peer(from))
        return forward(datagram, from, path);
    found->second->connection_->handle_datagram(now, datagram);
    touch(*found->second);
}

void Port::take_handshake(Bytes datagram, const TransportAddress& from, const Path& path, TimePoint now) {
    if (is_outgoing(path.socket)) {
        ++figures_.strangers;
        return;
    }
    Induction induction{};
    if (listener_.answer_induction(now, datagram, from, induction) > 0) {
        ++figures_.handshakes;
        return answer(induction, from, path);
    }
    auto outcome = listener_.handle_datagram(now, datagram, from);
    if (const auto* reply = std::get_if<std::vector<std::uint8_t>>(&outcome)) {
        ++figures_.handshakes;
        return send_now(*reply, from, path);
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
    const Caller caller = caller_of(request);
    if (const auto link = callers_.find(caller); link != callers_.end()) {
        if (link->second->cookie_ == request.cookie) {
            link->second->connection_->repeat_response();
            touch(*link->second);
        }
        return;
    }
    if (const auto opening = opening_.find(caller); opening != opening_.end()) {
        opening->second.asked_at = now;
        return;
    }
    if (const auto refusal = refusals_.find(caller); refusal != refusals_.end())
        return send_now(srt::refuse(request, refusal->second.reason), request.from, path);
    auto place = handshakes_ == nullptr ? Result<HalfOpen::Place>(Error(Errc::closed, "nobody takes clients"))
                                        : handshakes_->take_place(request, now);
    if (!place.ok()) {
        ++figures_.refused;
        return send_now(srt::refuse(request, srt::RejectReason::overload), request.from, path);
    }
    if (opening_.empty())
        next_look_ = now + kLookEvery;
    opening_.emplace(caller, Opened{now, *std::move(place)});
    if (next_look_ < woken_at_)
        earlier_.raise();
    handshakes_->open(std::move(request), path);
}

// An opening releases its place as soon as its fiber has ended; a callback for it may take much longer.
void Port::look_at_openings(TimePoint now) {
    next_look_ = now + kLookEvery;
    for (const auto& [caller, opened] : opening_)
        if (opened.has_given_up(now))
            handshakes_->give_up(opened.fiber);
}

// In a flood they go out with few system calls.
void Port::answer(const Induction& induction, const TransportAddress& to, const Path& path) {
    if (path.socket == nullptr)
        return;
    if (path.socket != pending_socket_ || pending_.size() == io::UdpSocket::kBatch)
        send_pending();
    pending_socket_ = path.socket;
    pending_inductions_[pending_.size()] = induction;
    const Bytes bytes = pending_inductions_[pending_.size()];
    pending_.push_back({bytes, bytes.size(), to, path.local});
    ++figures_.sent;
    figures_.sent_bytes += bytes.size();
}

// Answers to unknown clients leave through the socket of the request.
void Port::send_now(Bytes datagram, const TransportAddress& to, const Path& path) {
    if (path.socket == nullptr)
        return;
    const std::array<io::GsoBatch, 1> one{io::GsoBatch{datagram, datagram.size(), to, path.local}};
    ++figures_.sent;
    figures_.sent_bytes += datagram.size();
    figures_.unsent += 1 - path.socket->send(one);
}

srt::SocketId Port::free_socket_id() const {
    for (;;) {
        // libsrt's are below 2^30.
        const auto id = static_cast<std::uint32_t>(random_number()) & 0x3FFF'FFFF;
        if (id != 0 && !links_.contains(id) && !calls_.contains(id))
            return srt::SocketId{id};
    }
}

Result<void> Port::add(Link& link, std::unique_ptr<srt::Connection> connection, const srt::Request& request, const Path& path) {
    TRY(insert(link, std::move(connection), path));
    link.cookie_ = request.cookie;
    opening_.erase(caller_of(request));
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
    service(link, io::now());
    flush();
    return {};
}

Result<io::UdpSocket*> Port::outgoing_socket(bool is_ipv4) {
    std::unique_ptr<io::UdpSocket>& known = outgoing_[is_ipv4 ? 0 : 1];
    if (known != nullptr)
        return known.get();
    CHECK(scope_ != nullptr);
    auto socket = TRY(io::UdpSocket::bind({is_ipv4 ? "0.0.0.0" : "::", 0}, UdpSockets::kBufferBytes));
    TRY(scope_->start("srt-receive", [this, &one = *socket](io::Deadline forever) { receive(one, forever); }));
    known = std::move(socket);
    return known.get();
}

bool Port::is_outgoing(const io::UdpSocket* socket) const {
    return std::ranges::any_of(outgoing_, [socket](const auto& one) { return one != nullptr && one.get() == socket; });
}

void Port::begin_call(OutgoingCall& call, srt::SocketId id, const TransportAddress& to) {
    calls_[static_cast<std::uint32_t>(id)] = {&call, to};
}

void Port::end_call(const OutgoingCall& call) {
    std::erase_if(calls_, [&call](const auto& called) { return called.second.call == &call; });
}

Result<void> Port::hand_over(Link& from, Link& to) {
    CHECK(to.port_ == nullptr);
    if (from.port_ == nullptr || from.is_over_)
        return Error(Errc::closed, "the connection is over already");
    flush();  // what it has written waits for a path, which goes with the connection
    wheel_.cancel(from);
    std::erase(touched_, &from);
    to.connection_ = std::move(from.connection_);
    to.port_ = std::exchange(from.port_, nullptr);
    to.path_ = from.path_;
    links_[static_cast<std::uint32_t>(to.connection_->socket_id())] = &to;
    callers_[{to.connection_->peer(), to.connection_->peer_socket_id()}] = &to;
    service(to, io::now());
    flush();
    return {};
}

void Port::remove(Link& link) {
    if (link.port_ == nullptr)
        return;
    const srt::Connection& connection = *link.connection_;
    link.connection_->close();
    write_output(link, io::now());
    flush();
    past_.add(connection.figures());
    wheel_.cancel(link);
    std::erase(touched_, &link);
    links_.erase(static_cast<std::uint32_t>(connection.socket_id()));
    callers_.erase({connection.peer(), connection.peer_socket_id()});
    link.port_ = nullptr;
    link.connection_.reset();
}

void Port::refuse(const srt::Request& request, const Path& path, srt::RejectReason reason) {
    ++figures_.refused;
    const TimePoint now = io::now();
    if (refusals_.size() >= kRefusalsMax)
        std::erase_if(refusals_, [now](const auto& refusal) { return now - refusal.second.at > kRefusalsKept; });
    if (refusals_.size() < kRefusalsMax)
        refusals_[caller_of(request)] = {reason, now};
    send_now(srt::refuse(request, reason), request.from, path);
}

void Port::begin_opening(const srt::Request& request, std::chrono::milliseconds patience, std::uint64_t fiber) {
    const auto opening = opening_.find(caller_of(request));
    if (opening == opening_.end())
        return;
    opening->second.patience = patience;
    opening->second.fiber = fiber;
}

bool Port::has_given_up(const srt::Request& request) const {
    const auto opening = opening_.find(caller_of(request));
    return opening != opening_.end() && opening->second.has_given_up(io::now());
}

Result<void> Port::enter_vhost(const srt::Request& request, const std::string& vhost) {
    const auto opening = opening_.find(caller_of(request));
    return opening == opening_.end() ? Result<void>() : opening->second.place.enter_vhost(vhost, io::now());
}

void Port::end_opening(const srt::Request& request) { opening_.erase(caller_of(request)); }

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
    flush();
}

void Port::service(Link& link, TimePoint now) {
    write_output(link, now);
    if (link.connection_->is_open() || link.is_over_)
        return set_timer(link, now);
    link.is_over_ = true;
    wheel_.cancel(link);
    link.on_over();
}

void Port::write_output(Link& link, TimePoint now) {
    const TransportAddress& peer = link.connection_->peer();
    // Callers with one address may have come to two of our sockets; a GSO batch goes out by one.
    if (!receivers_.empty() && receivers_.back()->path_ != link.path_ && receivers_.back()->connection_->peer() == peer)
        flush();
    for (;;) {
        MutBytes place = output_.place_for(srt::kDatagramBytesMax);
        if (place.empty()) {
            flush();
            place = output_.place_for(srt::kDatagramBytesMax);
        }
        const std::size_t size = link.connection_->write_next(now, place);
        if (size == 0)
            return;
        output_.take_placed(peer, size);
        if (output_.gso_batches() > receivers_.size())
            receivers_.push_back(&link);
    }
}

void Port::set_timer(Link& link, TimePoint now) {
    const TimePoint due = link.connection_->next_timeout(now);
    if (due == TimePoint::max())
        return wheel_.cancel(link);
    call_at(link, due);
}

void Port::call_at(TimerWheel::Timer& timer, TimePoint due) {
    wheel_.set(timer, due);
    if (due < woken_at_)
        earlier_.raise();
}

void Port::flush() {
    std::size_t at = 0;
    output_.for_each_gso_batch([this, &at](const engine::webrtc::DatagramBatch::GsoBatch& gso) {
        const Path& path = receivers_[at++]->path_;
        if (path.socket == nullptr) {
            figures_.unsent += gso.count;
            return;
        }
        figures_.sent += gso.count;
        figures_.sent_bytes += gso.bytes.size();
        if (path.socket != pending_socket_ || pending_.size() == io::UdpSocket::kBatch)
            send_pending();
        pending_socket_ = path.socket;
        pending_.push_back({gso.bytes, gso.segment_bytes, gso.to, path.local});
    });
    send_pending();
    output_.clear();
    receivers_.clear();
}

void Port::send_pending() {
    if (!pending_.empty())
        figures_.unsent += pending_.size() - pending_socket_->send(pending_);
    pending_.clear();
}

std::uint64_t Port::lost_on_arrival() const {
    std::uint64_t lost = 0;
    for_each_socket([&lost](const io::UdpSocket& socket) { lost += socket.lost_on_arrival(); });
    return lost;
}

PortReading Port::read() const {
    PortReading reading;
    reading.opening = opening_.size();
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
    memory.buffer_bytes = output_.capacity_bytes();
    return memory;
}

void Port::report(TimePoint now) {
    next_report_ = now + kReportEvery;
    std::erase_if(refusals_, [now](const auto& refusal) { return now - refusal.second.at > kRefusalsKept; });
    const PortReading reading = read();
    if (!links_.empty() || reading.port.received != reported_.port.received)
        LOG_INFO(log_, "{}", report_line(reading, reported_));
    reported_ = reading;
}

}  // namespace live::session::srt
