#include "session/rtsp/pull/pull_session.hpp"

#include <array>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "io/net/resolve.hpp"
#include "session/common/admitted_publish.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::session::rtsp {

namespace rtsp = engine::rtsp;
using wire::rtsp::PullUrl;

PullSession::PullSession(Context& context, MemoryBudget& memory, ClientRequest request, const Log& log)
    : context_(context),
      request_(std::move(request)),
      log_(log),
      memory_(memory, MemoryBudget::Kind::buffers, *this),
      entry_(context.clients, *this) {
    request_.kind = ClientKind::rtsp_publish;
    request_.protocol = "rtsp";
}

// All addresses of the host, one after the other.
Result<void> PullSession::connect(const PullUrl& url, io::Deadline deadline) {
    Error last(Errc::not_found, "no address");
    for (const Endpoint& endpoint : TRY(io::resolve(url.host, url.port, deadline))) {
        auto connected = io::TcpStream::connect(endpoint, deadline);
        if (connected.ok()) {
            stream_ = *std::move(connected);
            request_.peer = stream_->peer();
            const std::string client_nonce = random_id(16);
            engine_ = std::make_unique<rtsp::Client>(
                rtsp::ClientOptions{url.url, url.user, url.password, context_.product, client_nonce});
            engine_->start();
            return {};
        }
        last = std::move(connected).error();
        if (last.code() == Errc::cancelled)
            break;
    }
    return last;
}

Result<void> PullSession::send(Bytes bytes, io::Deadline deadline) {
    if (bytes.empty())
        return {};
    traffic_.sent_bytes += bytes.size();
    context_.traffic.sent_bytes += bytes.size();
    const std::array parts{io::as_part(bytes)};
    return stream_->write_all(parts, deadline.sooner(io::Deadline::after(kAnswerLimit)));
}

Result<bool> PullSession::read_piece() {
    const auto count = stream_->try_read(context_.scratch);
    if (!count.ok() && count.code() == Errc::need_more)
        return false;
    const std::size_t bytes = TRY(count);
    traffic_.received_bytes += bytes;
    context_.traffic.received_bytes += bytes;
    engine_->handle_bytes(context_.scratch.first(bytes));
    return true;
}

Result<rtsp::ClientEvent> PullSession::next_event(io::Deadline deadline) {
    for (;;) {
        auto event = TRY(engine_->poll_event(io::now()));
        TRY(send(as_bytes(engine_->take_output()), deadline));
        if (event)
            return *std::move(event);
        while (!TRY(read_piece()))
            if (TRY(stream_->wait_ready(io::Interest::readable, nullptr, deadline)).timed_out)
                return Error(Errc::timed_out, "the other side does not answer");
    }
}

// Credentials are for the host that the operator has named.
Result<wire::rtsp::Description> PullSession::find_description(PullUrl url, io::Deadline deadline) {
    for (int redirects = 0; redirects <= kRedirectsMax; ++redirects) {
        const auto limit = deadline.sooner(io::Deadline::after(kAnswerLimit));
        TRY(connect(url, limit));
        const auto event = TRY(next_event(limit));
        if (const auto* described = std::get_if<rtsp::Described>(&event))
            return described->description;
        const auto* redirected = std::get_if<rtsp::Redirected>(&event);
        if (redirected == nullptr)
            return Error(Errc::malformed, "media before a description");
        auto next = TRY(wire::rtsp::parse_pull_url(redirected->url));
        LOG_INFO(log_, "RTSP: redirected to {}", next.label());
        if (next.host == url.host) {
            next.user = url.user;
            next.password = url.password;
        }
        url = std::move(next);
    }
    return Error(Errc::limit, "more than 5 redirects");
}

Result<void> PullSession::run(PullUrl url, io::Deadline deadline) {
    const auto description = TRY(find_description(std::move(url), deadline));
    LOG_INFO(log_, "RTSP: connected to {}, tracks={}", request_.peer, description.media.size());
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, request_.param);
    auto ended = publish(description, deadline);
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    stream_->close();
    return ended;
}

Result<void> PullSession::publish(const wire::rtsp::Description& description, io::Deadline deadline) {
    const auto chosen = TRY(MediaInput::choose(description, log_));
    auto admitted = context_.admission.serve_publish(request_, deadline);
    if (!admitted.ok()) {
        entry_.refuse(admitted.error());
        return std::move(admitted).error();
    }
    plan_ = *std::move(admitted);
    auto publication = take_stream(context_.streams, plan_, deadline);
    if (!publication.ok()) {
        entry_.refuse(publication.error());
        return std::move(publication).error();
    }
    StreamStay stay(entry_, plan_, io::now());
    const AdmittedPublish published(context_.streams, context_.events, request_, plan_);
    const PublishedUrl listed(context_.published, plan_.url);
    auto ended = [&, owned = *std::move(publication)]() -> Result<void> {
        MediaInput input(*owned, plan_, description, chosen, context_.counters, log_);
        engine_->play_tracks(chosen);
        const auto event = TRY(next_event(deadline.sooner(io::Deadline::after(kAnswerLimit))));
        if (!std::holds_alternative<rtsp::Playing>(event) && !std::holds_alternative<rtsp::GotPacket>(event))
            return Error(Errc::malformed, "the other side does not play");
        LOG_INFO(log_, "RTSP: start pull url={}, from={}", plan_.url, request_.peer);
        return receive(*owned, input, deadline);
    }();
    stay.end(ended);
    LOG_INFO(log_, "cleanup when unpublish, url={}", plan_.url);
    return ended;
}

Result<void> PullSession::receive(media::Publication& publication, MediaInput& input, io::Deadline deadline) {
    input.restart_silence(io::now());
    for (;;) {
        const TimePoint now = io::now();
        publication.source().set_arrival(now);
        while (auto event = TRY(engine_->poll_event(now)))
            if (const auto* packet = std::get_if<rtsp::GotPacket>(&*event))
                input.take(packet->track, packet->is_rtcp, packet->bytes, now);
        input.drain(now);
        publication.source().flush();
        memory_.set(input.held_bytes());
        engine_->handle_timeout(now);
        ByteWriter out;
        out.text(engine_->take_output());
        if (input.take_report_turn(now))
            write_reports(input, out);
        TRY(send(out.written(), deadline));
        if (io::is_turn_over())
            TRY(io::yield(deadline));
        if (!publication.is_current())
            return Error(Errc::conflict, "another publisher took the stream over");
        const auto patience = input.got_media() ? plan_.publish.normal_timeout : plan_.publish.first_packet_timeout;
        const auto silent = io::Deadline::at(io::silence_from(input.silent_since()) + patience);
        if (silent.expired())
            return Error(Errc::timed_out, fmt::format("no media for {} ms", patience.count()));
        if (TRY(read_piece()))
            continue;
        auto due = deadline.sooner(silent).sooner(io::Deadline::at(input.report_at()));
        if (const auto keep_alive = engine_->next_timeout())
            due = due.sooner(io::Deadline::at(*keep_alive));
        if (const auto gap = input.next_timeout())
            due = due.sooner(io::Deadline::at(*gap));
        TRY(stream_->wait_ready(io::Interest::readable, &publication.evicted(), due));
    }
}

void PullSession::write_reports(MediaInput& input, ByteWriter& out) const {
    for (std::size_t i = 0; i < input.tracks(); ++i) {
        ByteWriter report;
        input.write_report(i, io::now(), report);
        const auto channels = engine_->channels(i);
        if (report.size() > 0 && channels)
            wire::rtsp::write_frame(out, static_cast<std::uint8_t>(channels->rtcp), report.written());
    }
}

ClientFigures PullSession::figures() const {
    ClientFigures figures;
    figures.received_bytes = traffic_.received_bytes;
    figures.sent_bytes = traffic_.sent_bytes;
    return figures;
}

void PullSession::kick(std::string reason) {
    kick_reason_ = std::move(reason);
    if (stream_ != nullptr)
        stream_->close();
}

}  // namespace live::session::rtsp
