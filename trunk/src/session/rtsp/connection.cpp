#include "session/rtsp/connection.hpp"

#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "engine/crypto/password_hash.hpp"
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

constexpr std::size_t kNonceBytes = 32;

// A session is controlled by its id, and only on its own connection.
rtsp::ServerOptions server_options(const Context& context, bool is_secure) {
    rtsp::ServerOptions options;
    options.product = context.product;
    options.session_id = random_id(16);
    // Media of a connection over TLS stays in it.
    options.allows_udp = !is_secure && context.ports.numbers().has_value();
    return options;
}

}  // namespace

Connection::Connection(std::unique_ptr<io::Stream> stream, const Arrival& arrival, Context& context, MemoryBudget& memory,
                       Log log)
    : context_(context),
      log_(std::move(log)),
      peer_(std::move(stream), arrival.client_ip, server_options(context, arrival.is_secure), context.scratch, context.traffic),
      authenticator_(std::string(engine::crypto::PasswordHash::kRealm)),
      memory_(memory, MemoryBudget::Kind::buffers, *this),
      entry_(context.clients, *this) {
    request_.id = log_.id();
    request_.ip = arrival.client_ip;
    request_.peer_ip = arrival.client_ip;
    request_.peer = peer_.stream().peer();
    request_.protocol = arrival.is_secure ? "rtsps" : "rtsp";
    request_.is_secure = arrival.is_secure;
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

// A header follows a challenge only.
Result<void> Connection::take_credentials(const std::string& authorization, std::string_view method, const std::string& url) {
    const auto response = TRY(wire::rtsp::parse_digest_response(authorization));
    if (!response) {
        request_.credentials = authorization.empty() ? user_info_of(url) : parse_authorization(authorization);
        return {};
    }
    if (response->user.size() > kCredentialBytesMax)
        return Error(Errc::malformed, "Digest: the name of the user is too long");
    Credentials sent;
    sent.user = response->user;
    sent.proof = Credentials::Proof::wrong;
    const auto fits = authenticator_.check(*response, url, io::now());
    if (!fits.ok()) {
        LOG_INFO(log_, "RTSP: {} is refused, {}", method, fits.error().sentence());
    } else {
        const auto is_right = [&](const StoredPassword& stored) {
            return authenticator_.is_right(*response, method, {stored.password, stored.ha1_md5, stored.ha1_sha256});
        };
        const auto proven = context_.passwords.prove(sent.user, request_.peer_ip, PasswordSource::Form::plain_or_ha1, is_right);
        if (!proven.ok() && proven.code() == Errc::limit)
            return proven.error();
        sent.proof = proven.ok() ? Credentials::Proof::right : Credentials::Proof::wrong;
    }
    // Owners: all copies of the client's request.
    request_.credentials = std::make_shared<const Credentials>(std::move(sent));
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
    using Offer = rtsp::Authenticator::Offer;
    if (wants_credentials)
        peer_.engine().challenge(authenticator_.challenges(
            context_.passwords.has_all_as(PasswordSource::Form::plain_or_ha1) ? Offer::digest_and_basic : Offer::basic,
            random_id(kNonceBytes), io::now()));
    else
        peer_.engine().refuse(status_for(error.code()));
    TRY(peer_.write_output(deadline));
    return error;
}

// An admitted player. On the heap, because the stack of a parked fiber should fit into one page.
struct Connection::Playing {
    Playing(StreamEvents& events, const ClientRequest& request, StreamPlan admitted_plan)
        : plan(std::move(admitted_plan)), admitted(events, request, plan) {}

    const StreamPlan plan;
    const AdmittedPlay admitted;
    std::optional<StreamStay> stay;
    std::optional<PlaySession> session;
};

// An error has been sent to the client.
[[gnu::noinline]] Result<std::unique_ptr<Connection::Playing>> Connection::begin_play(const rtsp::WantsToDescribe& asked,
                                                                                      io::Deadline deadline) {
    const auto named = identify(asked.url, ClientKind::rtsp_play);
    LOG_INFO(log_, "RTSP: DESCRIBE app={}, stream={}, vhost={}, param={}", request_.app, request_.stream, request_.vhost,
             redacted(request_.param));
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, redacted(request_.param));
    if (!named.ok())
        return refuse(named.error(), deadline).error();
    if (const auto sent = take_credentials(asked.authorization, "DESCRIBE", asked.url); !sent.ok())
        return refuse(sent.error(), deadline).error();
    const auto rendition = rendition_of(request_.param);
    if (!rendition.ok())
        return refuse(rendition.error(), deadline).error();
    auto served = context_.admission.serve_play(request_, deadline);
    if (!served.ok())
        return refuse(served.error(), deadline).error();
    if (std::get_if<StreamPlan>(&*served) == nullptr)
        return refuse(Error(Errc::not_found, "the stream is on another server"), deadline).error();
    auto playing = std::make_unique<Playing>(context_.events, request_, std::get<StreamPlan>(*std::move(served)));
    const StreamPlan& plan = playing->plan;
    const auto source = context_.streams.find_or_create(plan.url, plan.play, plan.chunk_size);
    if (!source.ok())
        return refuse(source.error(), deadline).error();
    (*source)->set_options(plan.play);
    playing->stay.emplace(entry_, plan, io::now());
    playing->session.emplace(peer_, context_, plan, options_, *source, PlaySession::Asked{asked.url, *rendition}, log_);
    return playing;
}

Result<void> Connection::play(const rtsp::WantsToDescribe& asked, io::Deadline deadline) {
    const auto playing = TRY(begin_play(asked, deadline));
    playing_ = &*playing->session;
    auto ended = playing_->run(deadline);
    if (!kick_reason_.empty())
        ended = Error(Errc::closed, kick_reason_);
    playing->stay->end(ended);
    playing_ = nullptr;
    peer_.own_traffic().sent_bytes += playing->session->figures().sent_bytes;
    return ended;
}

Result<void> Connection::publish(const rtsp::WantsToAnnounce& asked, io::Deadline deadline) {
    const auto named = identify(asked.url, ClientKind::rtsp_publish);
    LOG_INFO(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(request_.kind), request_.vhost,
             request_.app, request_.stream, redacted(request_.param));
    if (!named.ok())
        return refuse(named.error(), deadline);
    if (const auto sent = take_credentials(asked.authorization, "ANNOUNCE", asked.url); !sent.ok())
        return refuse(sent.error(), deadline);
    const auto tracks = MediaInput::choose(asked.description, MediaInput::Choice::all, log_);
    if (!tracks.ok())
        return refuse(tracks.error(), deadline);
    StreamPlan plan;
    auto publication = admit_publisher(context_.admission, context_.streams, request_, plan, deadline);
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
