#include "session/rtsp/connection.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "engine/rtsp/authenticator.hpp"
#include "io/fibers/loop.hpp"
#include "session/common/admitted_publish.hpp"
#include "session/common/credentials.hpp"
#include "session/rtsp/play_session.hpp"
#include "session/rtsp/publish_session.hpp"
#include "session/rtsp/stream_request.hpp"

namespace live::session::rtsp {

namespace rtsp = engine::rtsp;

namespace {

constexpr const char* kRealm = "streams";

// A session is controlled by its id, and only on its own connection.
rtsp::ServerOptions server_options(const Context& context, bool is_secure) {
    rtsp::ServerOptions options;
    options.product = context.product;
    options.session_id = random_id(16);
    // Media of a connection over TLS stays in it.
    options.allows_udp = !is_secure && context.ports.numbers().has_value();
    return options;
}

// A header follows a challenge only. Owners: all copies of the client's request.
std::shared_ptr<const Credentials> sent_credentials(const std::string& authorization, const std::string& url) {
    return authorization.empty() ? user_info_of(url) : parse_authorization(authorization);
}

}  // namespace

Connection::Connection(std::unique_ptr<io::Stream> stream, std::string client_ip, bool is_secure, Context& context,
                       MemoryBudget& memory, Log log)
    : context_(context),
      log_(std::move(log)),
      peer_(std::move(stream), client_ip, server_options(context, is_secure), context.scratch, context.traffic),
      memory_(memory, MemoryBudget::Kind::buffers, *this),
      entry_(context.clients, *this) {
    request_.id = log_.id();
    request_.ip = client_ip;
    request_.peer_ip = std::move(client_ip);
    request_.peer = peer_.stream().peer();
    request_.protocol = is_secure ? "rtsps" : "rtsp";
    request_.is_secure = is_secure;
}

void Connection::run(io::Deadline deadline) {
    ++context_.counters.connections;
    const auto ended = serve(deadline);
    log_end(ended);
    peer_.stream().close();
}

ClientFigures Connection::figures() const {
    ClientFigures figures = playing_ == nullptr ? ClientFigures() : playing_->figures();
    figures.received_bytes += peer_.own_traffic().received_bytes;
    figures.sent_bytes += peer_.own_traffic().sent_bytes;
    return figures;
}

void Connection::kick(std::string reason) {
    kick_reason_ = std::move(reason);
    peer_.stream().close();
}

void Connection::log_end(const Result<void>& ended) const {
    if (!kick_reason_.empty())
        LOG_INFO(log_, "client finished. reason=\"{}\"", kick_reason_);
    else if (ended.ok())
        LOG_INFO(log_, "client finished.");
    else if (ended.code() == Errc::closed)
        LOG_INFO(log_, "client disconnect peer. reason=\"{}\"; client finished.", ended.error().sentence());
    else if (ended.code() == Errc::cancelled)
        LOG_INFO(log_, "client finished. reason=\"the server stops\"");
    else
        LOG_WARN(log_, "client finished. ip={} reason=\"{}\"", request_.ip, ended.error().text());
}

Result<void> Connection::serve(io::Deadline deadline) {
    const auto limit = deadline.sooner(io::Deadline::after(kIdentifyLimit));
    for (;;) {
        const auto event = peer_.next_event(limit);
        if (!event.ok() && challenged_) {
            entry_.refuse(*challenged_);
            return *challenged_;
        }
        if (!event.ok())
            return event.error();
        const auto* describe = std::get_if<rtsp::WantsToDescribe>(&*event);
        const auto* announce = std::get_if<rtsp::WantsToAnnounce>(&*event);
        if (describe == nullptr && announce == nullptr)
            continue;
        challenged_.reset();
        const auto ended = describe != nullptr ? play(*describe, deadline) : publish(*announce, deadline);
        if (!challenged_)
            return ended;
    }
}

Result<void> Connection::identify(const std::string& url, ClientKind kind) {
    request_.kind = kind;
    const auto stream = TRY(stream_of(without_user_info(url)));
    request_.vhost = stream.vhost;
    request_.app = stream.app;
    request_.stream = stream.stream;
    request_.param = stream.param;
    request_.tc_url = "rtsp://" + stream.vhost + "/" + stream.app;
    options_ = TRY(context_.vhosts.find(stream.vhost));
    return {};
}

Result<void> Connection::refuse(const Error& error, io::Deadline deadline) {
    const bool wants_credentials = error.code() == Errc::unauthenticated;
    if (wants_credentials && challenges_ < kChallengesMax) {
        ++challenges_;
        challenged_ = error;
    } else {
        entry_.refuse(error);
    }
    if (wants_credentials)
        peer_.engine().challenge(rtsp::Authenticator(kRealm, {}).challenges(rtsp::Authenticator::Offer::basic));
    else
        peer_.engine().refuse(status_for(error.code()));
    TRY(peer_.write_output(deadline));
    return error;
}

Result<void> Connection::play(const rtsp::WantsToDescribe& asked, io::Deadline deadline) {
    const auto named = identify(asked.url, ClientKind::rtsp_play);
    request_.credentials = sent_credentials(asked.authorization, asked.url);
    LOG_INFO(log_, "RTSP: DESCRIBE app={}, stream={}, vhost={}, param={}", request_.app, request_.stream, request_.vhost,
             redacted(request_.param));
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, redacted(request_.param));
    if (!named.ok())
        return refuse(named.error(), deadline);
    auto served = context_.admission.serve_play(request_, deadline);
    if (!served.ok())
        return refuse(served.error(), deadline);
    if (std::get_if<StreamPlan>(&*served) == nullptr)
        return refuse(Error(Errc::not_found, "the stream is on another server"), deadline);
    const StreamPlan plan = std::get<StreamPlan>(*std::move(served));
    const AdmittedPlay admitted(context_.events, request_, plan);
    const auto source = context_.streams.find_or_create(plan.url, plan.play, plan.chunk_size);
    if (!source.ok())
        return refuse(source.error(), deadline);
    (*source)->set_options(plan.play);
    StreamStay stay(entry_, plan, io::now());
    const auto session = std::make_unique<PlaySession>(peer_, context_, plan, options_, *source, asked.url, log_);
    playing_ = session.get();
    auto ended = session->run(deadline);
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    stay.end(ended);
    playing_ = nullptr;
    peer_.own_traffic().sent_bytes += session->figures().sent_bytes;
    return ended;
}

Result<void> Connection::publish(const rtsp::WantsToAnnounce& asked, io::Deadline deadline) {
    const auto named = identify(asked.url, ClientKind::rtsp_publish);
    request_.credentials = sent_credentials(asked.authorization, asked.url);
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, redacted(request_.param));
    if (!named.ok())
        return refuse(named.error(), deadline);
    const auto tracks = MediaInput::choose(asked.description, log_);
    if (!tracks.ok())
        return refuse(tracks.error(), deadline);
    const auto admitted = context_.admission.serve_publish(request_, deadline);
    if (!admitted.ok())
        return refuse(admitted.error(), deadline);
    const StreamPlan& plan = *admitted;
    auto publication = take_stream(context_.streams, plan, deadline);
    if (!publication.ok())
        return refuse(publication.error(), deadline);
    StreamStay stay(entry_, plan, io::now());
    const AdmittedPublish published(context_.streams, context_.events, request_, plan);
    LOG_INFO(log_, "RTSP: start publish url={}, from={}", plan.url, request_.peer);
    const PublishedUrl listed(context_.published, plan.url);
    auto ended = [&, owned = *std::move(publication)]() -> Result<void> {
        MediaInput input(*owned, plan, asked.description, *tracks, context_.counters, log_);
        input.convert_laws(context_.streams.transcoders());
        return PublishSession(peer_, context_, plan, *owned, input, memory_).run(deadline);
    }();
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    stay.end(ended);
    LOG_INFO(log_, "cleanup when unpublish, url={}", plan.url);
    return ended;
}

}  // namespace live::session::rtsp
