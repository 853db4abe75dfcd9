#include "session/gb28181/server.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/accept_loop.hpp"
#include "session/gb28181/publish_session.hpp"

namespace live::session::gb28181 {

using engine::gb28181::MediaReceiver;
using engine::gb28181::TcpFrames;

namespace {

Result<TransportAddress> address_of(const Endpoint& peer) { return TransportAddress{TRY(parse_ip(peer.ip)), peer.port}; }

std::string text_of(const TransportAddress& address) { return Endpoint{ip_text(address.ip), address.port}.text(); }

}  // namespace

Server::Server(Context context, io::Scope& listeners, io::Scope& connections, const Log& log)
    : context_(std::move(context)), listeners_(listeners), connections_(connections), log_(log) {}

Server::~Server() = default;

Result<void> Server::add(std::unique_ptr<io::TcpListener> listener) {
    tcp_.push_back(std::move(listener));
    io::TcpListener* const one = tcp_.back().get();
    return listeners_.start("gb28181-listener", [this, one](io::Deadline forever) {
        accept_each(*one, connections_, "gb28181-connection", log_, context_.places, forever,
                    [this](std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
                        serve_tcp({std::move(stream), Transport::tcp, {}, 0}, deadline);
                    });
    });
}

Result<void> Server::add(std::unique_ptr<io::UdpSocket> socket) {
    if (const std::size_t bytes = socket->buffers().receive / 2; bytes < kBufferBytes)
        LOG_WARN(
            log_,
            "GB28181: the kernel's receive buffer of UDP port {} has {} KB instead of {} KB, and packets may be lost: sysctl "
            "-w net.core.rmem_max={}, or let devices send over TCP",
            socket->endpoint().port, bytes >> 10, kBufferBytes >> 10, kBufferBytes);
    udp_.push_back(std::move(socket));
    io::UdpSocket* const one = udp_.back().get();
    return listeners_.start("gb28181-receive", [this, one](io::Deadline forever) { receive(*one, {}, forever); });
}

Result<void> Server::start() {
    return listeners_.start("gb28181-expire", [this](io::Deadline forever) { expire(forever); });
}

void Server::close() {
    is_closed_ = true;
    for (const auto& listener : tcp_)
        listener->close();
    for (const auto& [id, port] : own_ports_)
        if (port->listener != nullptr)
            port->listener->close();
}

void Server::stop_receiving() {
    close();
    for (const auto& socket : udp_)
        socket->stop_receiving();
    for (const auto& [id, port] : own_ports_)
        if (port->socket != nullptr)
            port->socket->stop_receiving();
}

Result<OpenedSession> Server::open(OpenRequest request) {
    if (is_closed_)
        return Error(Errc::system, "the server is about to stop");
    const std::string url = TRY(output_of(context_.options.output, request.id));
    const bool is_active = request.transport == Transport::tcp_active;
    if (request.device && !is_active)
        return Error(Errc::malformed, "the address of a device is for tcp_active only");
    if (!request.ssrc && !request.port && !is_active)
        return Error(Errc::malformed, "an SSRC is needed at the port of all devices");
    auto device = std::make_unique<Device>();
    device->id = request.id;
    device->number = ++newest_;
    device->url = TRY(wire::rtmp::parse_stream_url(url));
    std::shared_ptr<OwnPort> port;
    if (request.port && !is_active)
        port = TRY(open_port(*request.port, request.transport));
    TRY(table_.open(io::now(), {.id = request.id, .ssrc = request.ssrc, .transport = request.transport},
                    context_.options.connect_timeout));
    devices_[request.id] = std::move(device);
    auto started = port != nullptr  ? start_port(port, request.id)
                   : request.device ? connect(request.id, *request.device)
                                    : Result<void>();
    if (!started.ok()) {
        remove(request.id);
        return std::move(started).error();
    }
    opened_.raise();
    LOG_INFO(log_, "GB28181: session opened id={} ssrc={} transport={}", request.id,
             request.ssrc ? std::to_string(*request.ssrc) : "any", name_of(request.transport));
    if (port != nullptr)
        return OpenedSession{port->number, request.transport == Transport::tcp};
    return OpenedSession{common_port(request.transport), request.transport != Transport::udp};
}

std::uint16_t Server::common_port(Transport transport) const {
    if (transport == Transport::udp)
        return udp_.empty() ? std::uint16_t{0} : udp_.front()->endpoint().port;
    return transport == Transport::tcp_active || tcp_.empty() ? std::uint16_t{0} : tcp_.front()->endpoint().port;
}

// std::shared_ptr: its owners are this server and the fiber that reads the port, which runs on for a moment after the session.
Result<std::shared_ptr<Server::OwnPort>> Server::open_port(std::uint16_t number, Transport transport) const {
    if (tcp_.empty())
        return Error(Errc::system, "there is no port for all devices");
    auto port = std::make_shared<OwnPort>();
    const Endpoint on{tcp_.front()->endpoint().ip, number};
    if (transport == Transport::udp) {
        port->socket = TRY(io::UdpSocket::bind(on, kBufferBytes));
        port->number = port->socket->endpoint().port;
    } else {
        port->listener = TRY(io::TcpListener::listen(on));
        port->number = port->listener->endpoint().port;
    }
    return port;
}

Result<void> Server::start_port(const std::shared_ptr<OwnPort>& port, const std::string& id) {
    own_ports_[id] = port;
    if (port->socket != nullptr)
        return listeners_.start("gb28181-receive",
                                [this, port, id](io::Deadline forever) { receive(*port->socket, id, forever); });
    return listeners_.start("gb28181-listener", [this, port, id](io::Deadline forever) {
        accept_each(*port->listener, connections_, "gb28181-connection", log_, context_.places, forever,
                    [this, id](std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
                        serve_tcp({std::move(stream), Transport::tcp, id, 0}, deadline);
                    });
    });
}

Result<void> Server::connect(std::string_view id, const Endpoint& to) {
    const auto* const session = table_.find(id);
    if (session == nullptr || session->transport != Transport::tcp_active)
        return Error(Errc::not_found, "there is no such session of tcp_active");
    Device& device = *devices_.find(id)->second;
    if (device.is_dialled)
        return Error(Errc::conflict, "the session has its device");
    TRY(connections_.start("gb28181-dial", [this, own_id = device.id, number = device.number, to](io::Deadline forever) {
        dial(own_id, number, to, forever);
    }));
    device.is_dialled = true;
    return {};
}

void Server::dial(const std::string& id, std::uint64_t number, const Endpoint& to, io::Deadline deadline) {
    const auto limit = deadline.sooner(io::Deadline::after(context_.options.connect_timeout));
    auto stream = io::TcpStream::connect(to, limit);
    if (stream.ok())
        serve_tcp({*std::move(stream), Transport::tcp_active, id, number}, deadline);
    else
        LOG_WARN(log_, "GB28181: cannot connect to the device at {} for id={}: {}", to.text(), id, stream.error().text());
    give_up(id, number);
}

void Server::give_up(const std::string& id, std::uint64_t number) {
    const auto device = devices_.find(id);
    if (device != devices_.end() && device->second->number == number && !device->second->is_served)
        remove(id);
}

Result<void> Server::close(std::string_view id) {
    const auto found = devices_.find(id);
    if (found == devices_.end())
        return Error(Errc::not_found, "there is no such session");
    if (found->second->is_served)
        found->second->end("the session was closed by the API");
    else
        remove(found->first);
    return {};
}

// `id` may be a member of what is removed.
void Server::remove(const std::string& id) {
    const auto found = devices_.find(id);
    if (found == devices_.end())
        return;
    if (const MediaReceiver* const receiver = found->second->receiver.get()) {
        ended_.packets += receiver->counters().packets;
        ended_.lost += receiver->order().lost;
        ended_.resyncs += receiver->reader().counters().resyncs;
    }
    if (const auto port = own_ports_.find(id); port != own_ports_.end()) {
        if (port->second->listener != nullptr)
            port->second->listener->close();
        if (port->second->socket != nullptr)
            port->second->socket->close();
        own_ports_.erase(port);
    }
    table_.close(id);
    devices_.erase(found);
}

void Server::expire(io::Deadline deadline) {
    for (;;) {
        const auto next = table_.next_timeout();
        const auto waited = io::wait(opened_, next ? deadline.sooner(io::Deadline::at(*next)) : deadline);
        if (!waited.ok() && waited.code() != Errc::timed_out)
            return;
        for (const std::string& id : table_.expire(io::now())) {
            ++ended_.expired;
            LOG_WARN(log_, "GB28181: no device has sent media for id={} in {} ms: the session is released", id,
                     context_.options.connect_timeout.count());
            remove(id);
        }
    }
}

void Server::receive(io::UdpSocket& socket, const std::string& own_id, io::Deadline deadline) {
    for (;;) {
        const auto datagrams = socket.receive(deadline);
        if (datagrams.ok()) {
            take(*datagrams, own_id, io::now());
            if (datagrams->size() == io::UdpSocket::kBatch && io::is_turn_over() && !io::yield(deadline).ok())
                return;
            continue;
        }
        if (datagrams.code() == Errc::cancelled || datagrams.code() == Errc::closed)
            return;
        LOG_ERROR(log_, "GB28181: {}", datagrams.error().text());
        constexpr std::chrono::seconds kPause{1};
        if (!io::sleep(deadline.sooner(io::Deadline::after(kPause))).ok())
            return;
    }
}

void Server::take(std::span<const io::Datagram> datagrams, std::string_view own_id, TimePoint now) {
    for (const io::Datagram& datagram : datagrams) {
        const auto ssrc = engine::gb28181::ssrc_of(datagram.bytes);
        if (!ssrc)
            continue;  // RTCP, and what holes in NATs are kept open with
        const auto found = find_device(own_id, Transport::udp, *ssrc, datagram.from);
        if (!found.ok()) {
            note_stranger(found.error(), ip_text(datagram.from.ip));
            continue;
        }
        Device& device = **found;
        traffic_.received_bytes += datagram.bytes.size();
        device.received_at = now;
        device.receiver->handle_datagram(now, datagram.bytes);
        device.changed.raise();
        if (device.is_served)
            continue;
        const auto started = connections_.start(
            "gb28181-session", [this, &device, from = datagram.from](io::Deadline forever) { serve_udp(device, from, forever); });
        device.is_served = started.ok();
        if (!started.ok())
            remove(std::string(device.id));
    }
}

Result<Device*> Server::find_device(std::string_view own_id, Transport transport, std::uint32_t ssrc,
                                    const TransportAddress& from) {
    const auto* const session =
        TRY(own_id.empty() ? table_.connect(ssrc, transport, from) : table_.connect_at(own_id, ssrc, from));
    Device& device = *devices_.find(session->id)->second;
    if (device.receiver == nullptr)
        device.receiver = std::make_unique<MediaReceiver>(ssrc);
    return &device;
}

void Server::note_stranger(const Error& error, std::string_view ip) {
    if (ended_.strangers++ == 0)
        LOG_WARN(log_, "GB28181: media from {} is dropped: {}. Others are only counted", ip, error.sentence());
}

void Server::serve_tcp(Arrival arrival, io::Deadline deadline) {
    const std::string ip = arrival.stream->peer_ip();
    const Log log = log_.with_id(random_id());
    auto ended = [&]() -> Result<void> {
        const auto place = TRY(context_.places.take(ConnectionLimits::Kind::client, ip, sizeof(PublishSession), io::now()));
        return serve_connection(arrival, log, deadline);
    }();
    if (!ended.ok() && ended.code() != Errc::cancelled)
        LOG_WARN(log, "GB28181 client finished. ip={} reason=\"{}\"", ip, ended.error().text());
}

Result<void> Server::serve_connection(Arrival& arrival, const Log& log, io::Deadline deadline) {
    TcpFrames frames;
    const auto identified = identify(arrival, frames, deadline.sooner(io::Deadline::after(kIdentifyMax)));
    if (!identified.ok()) {
        note_stranger(identified.error(), arrival.stream->peer_ip());
        return std::move(identified).error();
    }
    Device& device = **identified;
    device.is_served = true;
    device.stream = arrival.stream.get();
    TcpInput input(device, *arrival.stream, frames, traffic_, context_.scratch);
    auto ended = publish(device, input, arrival.stream->peer_endpoint(), "gb28181-tcp", log, deadline);
    remove(std::string(device.id));
    return ended;
}

// An SSRC may be opened by the API a moment after its device has connected.
Result<Device*> Server::identify(Arrival& arrival, TcpFrames& frames, io::Deadline deadline) {
    const TransportAddress from = TRY(address_of(arrival.stream->peer_endpoint()));
    Error unknown(Errc::timed_out, "no packet of a known SSRC");
    for (;;) {
        while (const auto packet = frames.next()) {
            const auto ssrc = engine::gb28181::ssrc_of(*packet);
            if (!ssrc)
                continue;
            auto found = find_device(arrival.own_id, arrival.transport, *ssrc, from);
            if (!found.ok() && found.code() != Errc::not_found)
                return found;
            if (!found.ok())
                continue;
            frames.set_ssrc(*ssrc);
            (*found)->received_at = io::now();
            (*found)->receiver->handle_tcp_packet(*packet, false);
            return found;
        }
        const auto count = arrival.stream->read_some(context_.scratch, deadline);
        if (!count.ok())
            return count.code() == Errc::timed_out ? unknown : count.error();
        traffic_.received_bytes += *count;
        TRY(frames.feed(Bytes(context_.scratch).first(*count)));
    }
}

void Server::serve_udp(Device& device, const TransportAddress& from, io::Deadline deadline) {
    const Log log = log_.with_id(random_id());
    const std::string ip = ip_text(from.ip);
    auto ended = [&]() -> Result<void> {
        const auto place = TRY(context_.places.take(ConnectionLimits::Kind::client, ip, sizeof(PublishSession), io::now()));
        UdpInput input(device);
        return publish(device, input, {ip, from.port}, "gb28181-udp", log, deadline);
    }();
    if (!ended.ok() && ended.code() != Errc::cancelled)
        LOG_WARN(log, "GB28181 client finished. ip={} reason=\"{}\"", ip, ended.error().text());
    remove(std::string(device.id));
}

Result<void> Server::publish(Device& device, MediaInput& input, const Endpoint& peer, std::string_view protocol, const Log& log,
                             io::Deadline deadline) {
    ClientRequest request;
    request.id = log.id();
    request.kind = ClientKind::gb28181_publish;
    request.ip = request.peer_ip = peer.ip;
    request.peer = peer.text();
    request.protocol = protocol;
    request.vhost = device.url.vhost;
    request.app = device.url.app;
    request.stream = device.url.stream;
    request.param = device.url.param;
    request.tc_url = "rtmp://" + device.url.vhost + "/" + device.url.app;
    return std::make_unique<PublishSession>(context_, device, input, std::move(request), log)->run(deadline);
}

std::vector<ListedSession> Server::list() const {
    std::vector<ListedSession> listed;
    for (const auto& [id, session] : table_.all()) {
        const Device& device = *devices_.find(id)->second;
        ListedSession one;
        one.id = id;
        one.ssrc = session.ssrc;
        one.transport = session.transport;
        one.is_publishing = device.is_served;
        one.device = session.from ? text_of(*session.from) : "";
        one.age = std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - session.opened);
        const auto port = own_ports_.find(id);
        one.port = port != own_ports_.end() ? port->second->number : common_port(session.transport);
        if (device.receiver != nullptr) {
            one.received_bytes = device.receiver->counters().bytes;
            for (const wire::ps::PsReader::TrackInfo& track : device.receiver->reader().tracks())
                one.codecs.emplace_back(wire::ps::name_of(track.format));
        }
        listed.push_back(std::move(one));
    }
    return listed;
}

Server::Totals Server::totals() const {
    Totals totals = ended_;
    for (const auto& [id, device] : devices_) {
        if (device->receiver == nullptr)
            continue;
        totals.packets += device->receiver->counters().packets;
        totals.lost += device->receiver->order().lost;
        totals.resyncs += device->receiver->reader().counters().resyncs;
    }
    return totals;
}

std::size_t Server::publishing() const {
    return static_cast<std::size_t>(std::ranges::count_if(devices_, [](const auto& one) { return one.second->is_served; }));
}

std::size_t Server::held_bytes() const {
    std::size_t bytes = 0;
    for (const auto& [id, device] : devices_)
        bytes += sizeof(Device) + (device->receiver == nullptr ? 0 : sizeof(MediaReceiver) + device->receiver->held_bytes());
    return bytes;
}

}  // namespace live::session::gb28181
