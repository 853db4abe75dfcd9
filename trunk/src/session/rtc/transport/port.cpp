#include "session/rtc/transport/port.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "engine/ice/agent.hpp"
#include "engine/webrtc/datagram_kind.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "wire/stun/message.hpp"

namespace live::session::rtc {

namespace {

// Returns the local address to send from. For clients on a link-local address the kernel chooses it, because UdpSocket does not
// accept a link-local one.
IpAddress usable_local(const IpAddress& local) {
    const bool is_link_local = local.bytes[0] == 0xFE && (local.bytes[1] & 0xC0) == 0x80;
    return is_link_local ? IpAddress() : local;
}

// Counts a batch of datagrams that has been read and is being taken.
class InHand {
public:
    explicit InHand(std::size_t& count) : count_(count) { ++count_; }
    ~InHand() { --count_; }
    InHand(const InHand&) = delete;
    InHand& operator=(const InHand&) = delete;

private:
    std::size_t& count_;
};

}  // namespace

std::string report_line(const PortReading& now, const PortReading& then) {
    const auto a_second = [&](auto figure) {
        constexpr std::uint64_t kSeconds = Port::kReportEvery.count();
        return (figure(now) - figure(then) + kSeconds - 1) / kSeconds;
    };
    const auto port = [&](std::uint64_t PortFigures::*figure) {
        return a_second([figure](const PortReading& reading) { return reading.port.*figure; });
    };
    const auto rtcp = [&](std::uint64_t engine::webrtc::RtcpCounts::*count) {
        return a_second([count](const PortReading& reading) { return reading.shared.in.*count + reading.shared.out.*count; });
    };
    const auto asked = a_second([](const PortReading& reading) { return reading.shared.in.nacked; });
    const auto resent = a_second([](const PortReading& reading) { return reading.shared.resent; });
    using Counts = engine::webrtc::RtcpCounts;
    return fmt::format(
        "RTC: Server conns={}, rpkts=({},rtp:{},stun:{},rtcp:{},dtls:{},unknown:{}), spkts=({},rtp:{},rtcp:{}), "
        "rtcp=(pli:{},twcc:{},rr:{}), snk=({}), rnk=({},h:{},m:{}), loss=(r:{},s:{})",
        now.sessions, port(&PortFigures::received), port(&PortFigures::rtp), port(&PortFigures::stun), port(&PortFigures::rtcp),
        port(&PortFigures::dtls), port(&PortFigures::strangers), port(&PortFigures::sent),
        a_second([](const PortReading& reading) { return reading.shared.rtp_out; }),
        a_second([](const PortReading& reading) { return reading.shared.rtcp_out; }), rtcp(&Counts::key_requests),
        rtcp(&Counts::arrival_reports), rtcp(&Counts::receiver_reports),
        a_second([](const PortReading& reading) { return reading.shared.out.nacked; }), asked, resent,
        asked > resent ? asked - resent : 0, a_second([](const PortReading& reading) { return reading.lost; }),
        a_second([](const PortReading& reading) { return reading.unsent; }));
}

Port::~Port() { CHECK(peers_.empty()); }

Result<void> Port::start(io::Scope& scope) {
    for (const auto& socket : sockets_)
        TRY(scope.start("rtc-receive", [this, &socket = *socket](io::Deadline forever) { receive(socket, forever); }));
    TRY(scope.start("rtc-handshakes", [this](io::Deadline forever) { finish_steps(forever); }));
    return scope.start("rtc-time", [this](io::Deadline forever) { keep_time(forever); });
}

void Port::receive(io::UdpSocket& socket, io::Deadline deadline) {
    constexpr std::chrono::milliseconds kPause{100};
    for (;;) {
        const auto datagrams = socket.receive(deadline);
        if (!datagrams.ok()) {
            if (datagrams.code() == Errc::cancelled || datagrams.code() == Errc::closed)
                return;
            LOG_WARN(log_, "rtc receive: {}", datagrams.error().text());
            if (!io::sleep(io::Deadline::after(kPause)).ok())
                return;
            continue;
        }
        const InHand in_hand(batches_in_hand_);
        TimePoint now = io::now();
        for (const io::Datagram& datagram : *datagrams) {
            take(now, datagram.bytes, {datagram.from, {nullptr, &socket, nullptr, usable_local(datagram.to)}});
            if (!io::is_turn_over())
                continue;
            // Likely handshakes, where these are not done in a worker thread: each takes a millisecond.
            end_batch(now);
            if (!io::yield(deadline).ok())
                return;
            now = io::now();
        }
        end_batch(now);
    }
}

void Port::keep_time(io::Deadline deadline) {
    TimePoint next_report = io::now() + kReportEvery;
    io::ReadFirst read_first;
    while (io::sleep(deadline.sooner(io::Deadline::after(TimerWheel::kTick))).ok()) {
        // The fiber that receives may have given way in the middle of a batch, whose rest holds signs of life.
        const auto are_dry = [this] {
            return batches_in_hand_ == 0 && std::ranges::all_of(sockets_, [](const auto& one) { return one->is_read_dry(); });
        };
        if (!read_first.wait(are_dry, deadline).ok())
            return;
        const TimePoint now = io::now();
        wheel_.advance(now);
        end_batch(now);
        if (now >= next_report) {
            report();
            next_report = now + kReportEvery;
        }
    }
}

void Port::finish_steps(io::Deadline deadline) {
    while (io::wait(step_wake_, deadline).ok()) {
        while (!stepped_.empty()) {
            Peer& peer = *stepped_.front();
            stepped_.pop_front();
            touch(peer);
            peer.finish_step(io::now());
            if (!io::is_turn_over())
                continue;
            end_batch(io::now());
            if (!io::yield(deadline).ok())
                return;
        }
        end_batch(io::now());
    }
}

Result<void> Port::check_room() const {
    if (peers_.size() >= kSessionsMax)
        return Error(Errc::limit, "there are too many sessions");
    return {};
}

Result<void> Port::add(std::unique_ptr<Peer> peer) {
    TRY(check_room());
    if (peer->is_retired_)
        return Error(Errc::closed, "the session was ended before it began");
    if (peers_.contains(peer->ufrag()))
        return Error(Errc::conflict, "another session has this ice-ufrag");
    Peer& added = *peer;
    added.is_in_port_ = true;
    peers_.emplace(added.ufrag(), std::move(peer));
    ++half_open_;
    touch(added);
    return {};
}

Peer* Port::find(std::string_view ufrag) const {
    const auto found = peers_.find(std::string(ufrag));
    return found == peers_.end() || found->second->is_retired_ ? nullptr : found->second.get();
}

void Port::retire(Peer& peer) {
    if (!std::exchange(peer.is_retired_, true) && peer.is_in_port_)
        retired_.push_back(&peer);
}

void Port::touch(Peer& peer) {
    if (peer.is_in_port_ && !std::exchange(peer.is_touched_, true))
        touched_.push_back(&peer);
}

void Port::add_stepped(Peer& peer) {
    stepped_.push_back(&peer);
    step_wake_.raise();
}

void Port::clear() {
    for (const auto& [ufrag, peer] : peers_)
        retire(*peer);
    reap(TimePoint::max(), retired_.size());
    flush();
}

void Port::take(TimePoint now, MutBytes datagram, const Arrival& arrival) {
    using engine::webrtc::DatagramKind;
    ++figures_.received;
    figures_.received_bytes += datagram.size();
    switch (engine::webrtc::kind_of(datagram)) {
        case DatagramKind::stun: ++figures_.stun; return take_stun(now, datagram, arrival);
        case DatagramKind::dtls: ++figures_.dtls; break;
        case DatagramKind::rtp: ++figures_.rtp; break;
        case DatagramKind::rtcp: ++figures_.rtcp; break;
        case DatagramKind::other: break;
    }
    const auto path = paths_.find(arrival.from);
    if (path == paths_.end())
        forward(datagram, arrival);
    else {
        path->second.received_at = now;
        deliver(*path->second.peer, now, datagram, arrival);
    }
}

void Port::forward(Bytes datagram, const Arrival& arrival) {
    ++figures_.strangers;
    if (forwarding_ == nullptr || arrival.path.socket == nullptr)
        return;
    const Endpoint& local = arrival.path.socket->endpoint();
    forwarding_->pass({ForwardedDatagram::Protocol::webrtc, local.is_ipv6(), local.port, arrival.from, arrival.path.local},
                      datagram);
}

void Port::take_forwarded(const ForwardedDatagram& forwarded, TimePoint now, MutBytes datagram) {
    io::UdpSocket* const socket = sockets_.find(forwarded);
    if (socket == nullptr)
        return;
    // It is not forwarded again: the other process has passed it to every candidate itself.
    DatagramForwarding* const forwarding = std::exchange(forwarding_, nullptr);
    take(now, datagram, {forwarded.from, {nullptr, socket, nullptr, forwarded.to}});
    end_batch(now);
    forwarding_ = forwarding;
}

// Responses go back to the sender of the check, before the next datagram: its address may not be the session's, or not yet.
void Port::take_stun(TimePoint now, MutBytes datagram, const Arrival& arrival) {
    const auto message = wire::stun::parse_message(datagram);
    const auto ufrag = message.ok() ? engine::ice::local_ufrag_of(*message) : std::nullopt;
    const auto path = paths_.find(arrival.from);
    Peer* const here = path == paths_.end() || path->second.peer->is_retired_ ? nullptr : path->second.peer;
    // A response to our own check names no session.
    Peer* const peer = ufrag ? find(*ufrag) : message.ok() && message->kind == wire::stun::Kind::success ? here : nullptr;
    // A check for another session than the one at this address is ignored while that is active: the client retries until the
    // address is free.
    const bool is_taken = here != nullptr && here != peer && now - path->second.received_at < kHolds;
    if (peer == nullptr || is_taken)
        return forward(datagram, arrival);
    deliver(*peer, now, datagram, arrival);
    if (!peer->is_retired_ && peer->is_checked(arrival.from))
        bind(*peer, arrival, now);
    arrival_ = arrival;
    flush();
    arrival_.reset();
}

void Port::deliver(Peer& peer, TimePoint now, MutBytes datagram, const Arrival& arrival) {
    if (peer.is_retired_)
        return;
    touch(peer);
    peer.take_datagram(now, datagram, arrival.from);
}

void Port::bind(Peer& peer, const Arrival& arrival, TimePoint now) {
    Path path = arrival.path;
    path.peer = &peer;
    path.received_at = now;
    const auto [at, is_new] = paths_.try_emplace(arrival.from, path);
    if (!is_new && at->second.peer == &peer) {
        at->second = path;
        return;
    }
    if (!is_new) {
        std::erase(at->second.peer->addresses_, arrival.from);
        at->second = path;
    }
    // The engine forgets addresses too.
    std::erase_if(peer.addresses_, [&](const TransportAddress& address) {
        const bool is_gone = peer.addresses_.size() >= kAddressesMax && !peer.is_checked(address);
        if (is_gone)
            paths_.erase(address);
        return is_gone;
    });
    peer.addresses_.push_back(arrival.from);
}

const Port::Path* Port::path_to(const TransportAddress& address) const {
    const auto path = paths_.find(address);
    if (path != paths_.end())
        return &path->second;
    return arrival_ && arrival_->from == address ? &arrival_->path : nullptr;
}

void Port::flush() {
    if (output_.empty())
        return;
    output_.for_each_gso_batch([this](const engine::webrtc::DatagramBatch::GsoBatch& gso) {
        const Path* const path = path_to(gso.to);
        if (path == nullptr) {
            figures_.unsent += gso.count;
            return;
        }
        figures_.sent += gso.count;
        figures_.sent_bytes += gso.bytes.size();
        if (path->link != nullptr) {
            path->link->send(gso.bytes, gso.segment_bytes);
            return;
        }
        if (path->socket != pending_socket_ || pending_.size() == io::UdpSocket::kBatch)
            send_pending();
        pending_socket_ = path->socket;
        pending_.push_back({gso.bytes, gso.segment_bytes, gso.to, path->local});
    });
    send_pending();
    output_.clear();
}

void Port::send_pending() {
    if (!pending_.empty())
        figures_.unsent += pending_.size() - pending_socket_->send(pending_);
    pending_.clear();
}

void Port::take_from(PortLink& link, const TransportAddress& from, TimePoint now, MutBytes datagram) {
    take(now, datagram, {from, {nullptr, nullptr, &link, {}}});
}

void Port::forget(PortLink& link) {
    for (auto at = paths_.begin(); at != paths_.end();) {
        if (at->second.link != &link) {
            ++at;
            continue;
        }
        std::erase(at->second.peer->addresses_, at->first);
        at = paths_.erase(at);
    }
}

void Port::end_batch(TimePoint now) {
    // A session that finishes its batch may touch others: a publisher wakes players.
    for (std::size_t i = 0; i < touched_.size(); ++i) {
        Peer& peer = *touched_[i];
        peer.is_touched_ = false;
        if (peer.is_retired_)
            continue;
        peer.finish_batch(now);
        if (!peer.is_retired_)
            reschedule(peer);
    }
    touched_.clear();
    flush();
    reap(now, kReapedAtOnce);
}

void Port::reschedule(Peer& peer) {
    if (const auto due = peer.next_timeout())
        wheel_.set(peer, *due);
    else
        wheel_.cancel(peer);
    if (peer.counts_as_half_open_ && !peer.is_half_open()) {
        peer.counts_as_half_open_ = false;
        --half_open_;
    }
}

// A session's last output is sent before its addresses are forgotten. Sessions that may not go yet are retried next time.
void Port::reap(TimePoint now, std::size_t at_once) {
    std::vector<Peer*> stay;
    for (std::size_t reaped = 0; !retired_.empty() && reaped < at_once;) {
        Peer* const peer = retired_.back();
        retired_.pop_back();
        if (!peer->may_go(now)) {
            stay.push_back(peer);
            continue;
        }
        ++reaped;
        std::erase(touched_, peer);
        std::erase(stepped_, peer);
        if (peer->counts_as_half_open_)
            --half_open_;
        const std::vector<TransportAddress> addresses = peer->addresses_;
        peers_.erase(peers_.find(peer->ufrag()));
        flush();
        for (const TransportAddress& address : addresses)
            paths_.erase(address);
    }
    retired_.insert(retired_.end(), stay.begin(), stay.end());
}

PortReading Port::read() const {
    return {peers_.size(), figures_, shared_, sockets_.lost_on_arrival(), figures_.unsent + sockets_.send_failures()};
}

PortMemory Port::memory() const {
    PortMemory memory;
    for (const auto& [ufrag, peer] : peers_) {
        memory.engine_bytes += peer->engine_bytes();
        memory.dtls_objects += peer->holds_dtls() ? 1 : 0;
    }
    memory.paths = paths_.size();
    memory.path_bytes = paths_.size() * sizeof(decltype(paths_)::value_type);
    memory.buffer_bytes = output_.capacity_bytes();
    return memory;
}

void Port::report() {
    const PortReading now = read();
    if (now.sessions > 0 || now.port.received != reported_.port.received)
        LOG_INFO(log_, "{}", report_line(now, reported_));
    reported_ = now;
}

}  // namespace live::session::rtc
