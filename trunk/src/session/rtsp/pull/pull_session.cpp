#include "session/rtsp/pull/pull_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "session/common/admitted_publish.hpp"
#include "session/rtsp/pull/dialler.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::session::rtsp {

namespace rtsp = engine::rtsp;
using Transport = PullOptions::Transport;
using wire::rtsp::PullUrl;

namespace {

// An empty RTP packet: it opens the way back through routers that translate addresses.
constexpr std::array<std::uint8_t, 12> kPunch = {0x80};

}  // namespace

Result<void> Dialler::pull(const PullUrl& url, PullOptions& options, ClientRequest request, const Log& log,
                           const OnPulling& on_pulling, io::Deadline deadline) {
    const PullSession::Shared shared{context_, memory_, own_endpoints_, inbox_};
    return std::make_unique<PullSession>(shared, options, std::move(request), log)->run(url, on_pulling, deadline);
}

PullSession::PullSession(const Shared& shared, PullOptions& options, ClientRequest request, const Log& log)
    : shared_(shared),
      options_(options),
      request_(std::move(request)),
      log_(log),
      connection_(shared.context, options, shared.own_endpoints, log),
      memory_(shared.memory, MemoryBudget::Kind::buffers, *this),
      entry_(shared.context.clients, *this) {
    request_.kind = ClientKind::rtsp_publish;
    request_.protocol = "rtsp";
}

Result<void> PullSession::run(const PullUrl& url, const OnPulling& on_pulling, io::Deadline deadline) {
    auto description = TRY(connection_.open(url, deadline));
    request_.peer = connection_.peer().text();
    request_.is_secure = connection_.is_secure();
    LOG_INFO(log_, "RTSP: connected to {}, tracks={}", request_.peer, description.media.size());
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, request_.param);
    on_pulling(this);
    auto ended = publish(url, std::move(description), deadline);
    on_pulling(nullptr);
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    connection_.close();
    return ended;
}

bool PullSession::tries_udp() const {
    if (connection_.is_secure() || options_.transport == Transport::tcp)
        return false;
    return options_.transport == Transport::udp || !options_.udp_failed;
}

Result<void> PullSession::publish(const PullUrl& url, Description description, io::Deadline deadline) {
    Context& context = shared_.context;
    auto publication = admit_publisher(context.admission, context.streams, request_, plan_, deadline);
    if (!publication.ok()) {
        entry_.refuse(publication.error());
        return std::move(publication).error();
    }
    StreamStay stay(entry_, plan_, io::now());
    const AdmittedPublish published(context.streams, context.events, request_, plan_);
    const PublishedUrl listed(context.published, plan_.url);
    auto ended = [&, owned = *std::move(publication)]() -> Result<void> {
        const bool over_udp = tries_udp();
        auto played = play(*owned, description, over_udp, deadline);
        const bool is_silent = !played.ok() && played.code() == Errc::timed_out && ended_packets_ == 0;
        if (!over_udp || !is_silent || options_.transport != Transport::automatic || !kick_reason_.empty())
            return played;
        LOG_WARN(log_, "RTSP: no packet over UDP from {}: media in the connection", request_.peer);
        connection_.close();
        description = TRY(connection_.open(url, deadline));
        played = play(*owned, description, false, deadline);
        options_.udp_failed = ended_packets_ > 0;
        return played;
    }();
    stay.end(ended);
    LOG_INFO(log_, "cleanup when unpublish, url={}", plan_.url);
    return ended;
}

Result<void> PullSession::play(media::Publication& publication, const Description& description, bool over_udp,
                               io::Deadline deadline) {
    const auto chosen = TRY(
        MediaInput::choose(description, options_.all_tracks ? MediaInput::Choice::all : MediaInput::Choice::first_of_each, log_));
    input_ = std::make_unique<MediaInput>(publication, plan_, description, chosen, shared_.context.counters, log_);
    input_->convert_laws(shared_.context.streams.transcoders());
    publication_ = &publication;
    auto ended = [&]() -> Result<void> {
        TRY(begin(chosen, over_udp, deadline));
        LOG_INFO(log_, "RTSP: start pull url={}, from={}, transport={}", plan_.url, request_.peer, pull_figures().transport);
        input_->restart_silence(io::now());
        return receive(publication, deadline);
    }();
    const auto stopped = stop_ports(deadline);
    publication_ = nullptr;
    const auto counters = input_->counters();
    ended_packets_ += counters.packets;
    ended_lost_ += counters.lost;
    input_.reset();
    memory_.set(0);
    return ended.ok() ? stopped : ended;
}

// Errors mean: media in the connection.
Result<void> PullSession::open_ports(std::size_t tracks) {
    MediaReceiver& receiver = *this;
    ports_ = std::make_unique<MediaPorts>(receiver, options_);
    return ports_->open(tracks, connection_.local_ip(), shared_.inbox);
}

// Its fibers end at once: nothing that they wait for lasts after the cancel.
Result<void> PullSession::stop_ports(io::Deadline) {
    if (ports_ == nullptr)
        return {};
    auto stopped = ports_->stop(io::Deadline::never());
    ports_.reset();
    return stopped;
}

Result<void> PullSession::begin(const std::vector<std::size_t>& chosen, bool over_udp, io::Deadline deadline) {
    const auto limit = deadline.sooner(io::Deadline::after(PullConnection::kAnswerLimit));
    const bool or_tcp = options_.transport != Transport::udp;
    if (over_udp)
        if (const auto opened = open_ports(chosen.size()); !opened.ok()) {
            TRY(stop_ports(deadline));
            if (!or_tcp)
                return opened;
            LOG_WARN(log_, "RTSP: media in the connection: {}", opened.error().sentence());
        }
    if (ports_ != nullptr)
        connection_.engine().play_tracks(chosen, {ports_->numbers(), or_tcp});
    else
        connection_.engine().play_tracks(chosen);
    for (;;) {
        const auto event = TRY(connection_.next_event(limit));
        if (const auto* packet = std::get_if<rtsp::GotPacket>(&event))
            input_->take(packet->track, packet->is_rtcp, packet->bytes, io::now());
        else if (std::holds_alternative<rtsp::Playing>(event))
            break;
        else
            return Error(Errc::malformed, "the other side does not play");
    }
    return start_ports(chosen, deadline);
}

Result<void> PullSession::start_ports(const std::vector<std::size_t>& chosen, io::Deadline deadline) {
    if (ports_ == nullptr)
        return {};
    const IpAddress camera = TRY(parse_ip(connection_.peer().ip));
    bool any = false;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        const wire::rtsp::Transport* const transport = connection_.engine().transport(chosen[i]);
        if (transport == nullptr || transport->lower != wire::rtsp::Transport::Lower::udp)
            continue;
        any = true;
        TRY(ports_->start(i, chosen[i], camera, transport->server_port));
        ports_->send(chosen[i], UdpPorts::Port::rtp, kPunch);
    }
    return any ? Result<void>() : stop_ports(deadline);
}

Result<void> PullSession::write_output(io::Deadline deadline) {
    ByteWriter out;
    out.text(connection_.engine().take_output());
    if (input_->take_report_turn(io::now()))
        write_reports(out);
    return connection_.send(out.written(), deadline);
}

Result<void> PullSession::handle_events(media::Publication& publication) {
    const TimePoint now = io::now();
    publication.source().set_arrival(now);
    rtsp::Client& engine = connection_.engine();
    for (;;) {
        while (const auto packet = engine.poll_packet())
            input_->take(packet->track, packet->is_rtcp, packet->bytes, now);
        const auto event = TRY(engine.poll_event(now));
        if (!event)
            break;
        if (const auto* packet = std::get_if<rtsp::GotPacket>(&*event))
            input_->take(packet->track, packet->is_rtcp, packet->bytes, now);
    }
    input_->drain(now);
    publication.source().flush();
    memory_.set(input_->held_bytes());
    engine.handle_timeout(now);
    return {};
}

Result<void> PullSession::receive(media::Publication& publication, io::Deadline deadline) {
    for (;;) {
        TRY(handle_events(publication));
        TRY(write_output(deadline));
        if (io::is_turn_over())
            TRY(io::yield(deadline));
        if (!publication.is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        if (io::now() >= silence_ends())
            return Error(Errc::timed_out, "no media for too long");
        TRY(wait_for_input(publication, deadline));
    }
}

TimePoint PullSession::silence_ends() const {
    const bool waits_for_udp = ports_ != nullptr && options_.transport == Transport::automatic && input_->counters().packets == 0;
    std::chrono::milliseconds patience = input_->got_media() ? plan_.publish.normal_timeout : plan_.publish.first_packet_timeout;
    if (waits_for_udp)
        patience = std::min<std::chrono::milliseconds>(patience, kUdpLimit);
    return io::silence_from(input_->silent_since()) + patience;
}

Result<void> PullSession::wait_for_input(media::Publication& publication, io::Deadline deadline) {
    auto due = deadline.sooner(io::Deadline::at(silence_ends())).sooner(io::Deadline::at(input_->report_at()));
    if (const auto keep_alive = connection_.engine().next_timeout())
        due = due.sooner(io::Deadline::at(*keep_alive));
    if (const auto gap = input_->next_timeout())
        due = due.sooner(io::Deadline::at(*gap));
    const PacedReads::Of of{connection_.stream(), publication, *input_, plan_, ports_ == nullptr};
    return reads_.next(of, shared_.context.scratch.size(), due, [this] { return connection_.read_piece(); });
}

void PullSession::write_reports(ByteWriter& out) {
    for (std::size_t i = 0; i < input_->tracks(); ++i) {
        ByteWriter report;
        input_->write_report(i, io::now(), report);
        const wire::rtsp::Transport* const transport = connection_.engine().transport(i);
        if (report.size() == 0 || transport == nullptr)
            continue;
        if (transport->interleaved)
            wire::rtsp::write_frame(out, static_cast<std::uint8_t>(transport->interleaved->rtcp), report.written());
        else if (ports_ != nullptr)
            ports_->send(i, UdpPorts::Port::rtcp, report.written());
    }
}

void PullSession::on_datagram(std::size_t track, bool is_rtcp, Bytes datagram) {
    if (publication_ == nullptr || !publication_->is_current())
        return;
    const TimePoint now = io::now();
    connection_.traffic().received_bytes += datagram.size();
    shared_.context.traffic.received_bytes += datagram.size();
    publication_->source().set_arrival(now);
    input_->take(track, is_rtcp, datagram, now);
}

// The session's fiber waits for packets that are missing, and sees a takeover.
void PullSession::on_datagrams_end() {
    if (publication_ == nullptr)
        return;
    publication_->source().flush();
    if (input_->next_timeout() || !publication_->is_current())
        publication_->evicted().raise();
}

bool PullSession::is_awaited() const { return publication_ == nullptr || publication_->source().is_awaited(); }

PullFigures PullSession::pull_figures() const {
    PullFigures figures;
    figures.transport = ports_ != nullptr ? "udp" : connection_.is_secure() ? "tls" : "tcp";
    figures.peer = connection_.peer().text();
    figures.received_bytes = connection_.traffic().received_bytes;
    figures.packets = ended_packets_;
    figures.has_media = ended_packets_ > 0;
    figures.lost_packets = ended_lost_;
    if (input_ != nullptr) {
        const auto counters = input_->counters();
        figures.packets += counters.packets;
        figures.lost_packets += counters.lost;
        figures.has_media = input_->got_media();
    }
    return figures;
}

ClientFigures PullSession::figures() const {
    ClientFigures figures;
    figures.received_bytes = connection_.traffic().received_bytes;
    figures.sent_bytes = connection_.traffic().sent_bytes;
    return figures;
}

void PullSession::kick(std::string reason) {
    kick_reason_ = std::move(reason);
    if (connection_.is_open())
        connection_.stream().close();
}

}  // namespace live::session::rtsp
