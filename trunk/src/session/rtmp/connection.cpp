#include "session/rtmp/connection.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "io/fibers/loop.hpp"
#include "media/source/wire_log_hold.hpp"
#include "session/common/admitted_publish.hpp"
#include "session/common/join.hpp"
#include "session/rtmp/play_session.hpp"
#include "session/rtmp/publish_session.hpp"
#include "session/rtmp/redirect_urls.hpp"
#include "wire/amf/amf0.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::rtmp {

namespace rtmp = engine::rtmp;

namespace {

rtmp::ServerOptions server_options(const Context& context, const std::string& local_ip, const std::string& id) {
    rtmp::ServerOptions options;
    options.identity.signature = context.signature;
    options.identity.server = context.signature;
    options.identity.version = context.version;
    options.identity.license = "MIT";
    options.identity.server_ip = local_ip;
    options.identity.pid = context.process_id;
    options.identity.id = id;
    return options;
}

ClientKind kind_of(rtmp::PublishStyle style) {
    switch (style) {
        case rtmp::PublishStyle::haivision: return ClientKind::haivision_publish;
        case rtmp::PublishStyle::flash: return ClientKind::flash_publish;
        case rtmp::PublishStyle::fmle: break;
    }
    return ClientKind::fmle_publish;
}

std::string_view code_for(const Error& error, std::string_view conflict, std::string_view other) {
    return error.code() == Errc::conflict || error.code() == Errc::malformed ? conflict : other;
}

}  // namespace

Connection::Connection(std::unique_ptr<io::Stream> stream, const Arrival& arrival, Context& context, MemoryBudget& memory,
                       Log log)
    : context_(context),
      log_(std::move(log)),
      peer_(std::move(stream), server_options(context, arrival.server_ip, log_.id()), random_number(), context.scratch,
            context.traffic, memory, *this),
      entry_(context.clients, *this) {
    request_.id = log_.id();
    request_.ip = arrival.client_ip;
    request_.peer_ip = arrival.client_ip;
    request_.peer = peer_.stream().peer();
    request_.protocol = arrival.is_secure ? "rtmps" : "rtmp";
    request_.is_secure = arrival.is_secure;
    request_.is_sibling = arrival.is_sibling;
}

void Connection::run(io::Deadline deadline) {
    const auto ended = serve(deadline);
    log_end(ended);
    peer_.stream().close();
    if (request_.kind != ClientKind::unknown)
        context_.events.on_closed(request_, peer_.own_traffic());
}

ClientFigures Connection::figures() const {
    ClientFigures figures = playing_ == nullptr ? ClientFigures() : playing_->figures();
    figures.received_bytes += peer_.own_traffic().received_bytes;
    figures.sent_bytes += peer_.own_traffic().sent_bytes;
    return figures;
}

void Connection::kick(std::string reason) {
    kick_reason_ = std::make_unique<std::string>(std::move(reason));
    peer_.stream().close();
}

void Connection::ask_to_leave(std::string reason) {
    if (publishing_ == nullptr)
        return kick(std::move(reason));
    publishing_->ask_to_leave(std::move(reason));
}

bool Connection::ask_to_move(const Redirect& to) {
    if (!peer_.engine().can_reconnect() || (publishing_ == nullptr && playing_ == nullptr) ||
        (to.is_here && request_.tc_url.empty()))
        return false;
    std::string url = to.is_here ? request_.tc_url : to.rtmp.empty() ? std::string() : reconnect_url(to, request_);
    if (publishing_ != nullptr)
        publishing_->ask_to_reconnect(std::move(url));
    else
        playing_->ask_to_reconnect(std::move(url));
    return true;
}

void Connection::log_end(const Result<void>& ended) const {
    // The reference's error code for "the peer has disconnected", which scripts search for.
    constexpr int kPeerGone = 1007;
    if (kick_reason_ != nullptr && !kick_reason_->empty())
        LOG_INFO(log_, "client finished. reason=\"{}\"", *kick_reason_);
    else if (ended.ok())
        LOG_INFO(log_, "client finished.");
    else if (ended.code() == Errc::closed)
        LOG_INFO(log_, "client disconnect peer. ret={} reason=\"{}\"; client finished.", kPeerGone, ended.error().sentence());
    else if (ended.code() == Errc::cancelled)
        LOG_INFO(log_, "client finished. reason=\"the server stops\"");
    else
        LOG_WARN(log_, "client finished. ip={} reason=\"{}\"", request_.ip, ended.error().text());
}

Result<void> Connection::serve(io::Deadline deadline) {
    const auto strangers = deadline.sooner(io::Deadline::after(kIdentifyLimit));
    TRY(peer_.set_no_delay(true));
    auto connected = connect(strangers);
    if (!connected.ok()) {
        // Sends the engine's answer to it, if the peer still reads.
        static_cast<void>(peer_.write_output(deadline.sooner(io::Deadline::after(kRefusalLimit))));
        return connected;
    }
    std::chrono::seconds patience = kIdentifyLimit;
    for (;;) {
        TRY(peer_.set_no_delay(true));
        const auto ended = next_session(deadline, patience);
        if (!ended.ok()) {
            static_cast<void>(peer_.write_output(deadline.sooner(io::Deadline::after(kRefusalLimit))));
            return ended;
        }
        patience = kNextSessionLimit;
    }
}

Result<void> Connection::connect(io::Deadline deadline) {
    auto event = TRY(peer_.next_event(deadline));
    auto* asked = std::get_if<rtmp::WantsToConnect>(&event);
    if (asked == nullptr)
        return Error(Errc::malformed, "the client wants something else before connect");
    const rtmp::ConnectRequest& request = *asked->request;
    LOG_INFO(log_, "connect app, tcUrl={}, pageUrl={}, swfUrl={}, app={}, schema=rtmp", redacted(request.tc_url),
             redacted(request.page_url), redacted(request.swf_url), redacted(request.app));
    request_.tc_url = without_user_info(request.tc_url);
    request_.credentials = user_info_of(request.tc_url);
    request_.page_url = request.page_url;
    request_.swf_url = request.swf_url;
    keep_arguments(request.arguments);
    app_ = request.app;
    const auto admitted = [&]() -> Result<void> {
        auto url = TRY(wire::rtmp::parse_stream_url(request.tc_url, "", request.app));
        TRY(obey_relay(url));
        request_.vhost = url.vhost;
        request_.app = url.app;
        TRY(wire::rtmp::admit_vhost(url.vhost));
        TRY(wire::rtmp::admit_name(url.app));
        options_ = TRY(context_.vhosts.options_of(url.vhost));
        return options_.challenge ? challenge(request) : Result<void>();
    }();
    if (!admitted.ok()) {
        entry_.refuse(admitted.error());
        peer_.engine().reject_connect(admitted.error().sentence());
        return Error(admitted.error());
    }
    TRY(peer_.engine().accept_connect({options_.chunk_size, options_.out_ack_size, options_.in_ack_size}));
    return peer_.write_output(deadline);
}

// A refused client connects again, with the next step of the challenge in tcUrl and app.
Result<void> Connection::challenge(const rtmp::ConnectRequest& request) {
    using rtmp::PublisherAuth;
    const auto given = PublisherAuth::parse(request.tc_url);
    const bool is_asked =
        PublisherAuth::is_encoder(request.flash_version) && request_.credentials == nullptr && !request_.is_sibling;
    if (context_.passwords == nullptr || (!given && (!is_asked || request_.is_relay())))
        return {};
    if (!context_.passwords->has_all_as(PasswordSource::Form::plain))
        return Error(Errc::denied,
                     "passwords are stored as hashes here, which cannot serve authmod=adobe: add "
                     "?user=NAME&pass=PASSWORD behind the name of the stream");
    if (!given)
        return Error(Errc::unauthenticated, std::string(PublisherAuth::request()));
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    if (given->response.empty())
        return Error(Errc::unauthenticated, TRY(context_.challenges.challenge(given->user, request_.peer_ip, now)));
    const auto is_right = [&](const StoredPassword& stored) {
        const auto verified = context_.challenges.verify(*given, stored.password, request_.peer_ip, now);
        return verified.ok() && *verified;
    };
    const auto proved = context_.passwords->prove(given->user, request_.peer_ip, PasswordSource::Form::plain, is_right);
    if (!proved.ok())
        return Error(proved.code(),
                     proved.code() == Errc::limit ? proved.error().sentence() : PublisherAuth::failure(given->user));
    request_.credentials = std::make_shared<const Credentials>(Credentials{given->user, {}, {}, Credentials::Proof::right, {}});
    request_.tc_url = PublisherAuth::without_parameters(request_.tc_url);
    app_ = PublisherAuth::without_parameters(app_);
    return {};
}

void Connection::keep_arguments(const wire::amf::Value& arguments) {
    const auto text_of = [&](const char* name) {
        const auto* value = arguments.find(name);
        return value == nullptr ? std::string_view() : value->string().value_or("");
    };
    RelayClaims claims;
    claims.path = text_of("millrace_path").substr(0, kRelayPathBytesMax);
    if (const auto proof = text_of("millrace_proof"); proof.size() <= kRelayProofBytesMax)
        claims.proof = proof;
    if (const auto node = text_of("millrace_node"); !claims.path.empty() && node.size() <= kRelayNodeBytesMax)
        claims.node = node;
    claims.has = read_relay_has(text_of("millrace_has"));
    if (!claims.path.empty()) {
        claims.vhost = text_of("millrace_vhost").substr(0, kRelayVhostBytesMax);
        claims.url = text_of("millrace_url");
        claims.trace_parent = text_of("millrace_traceparent").substr(0, kTraceParentBytesMax);
    }
    if (arguments.is_container() && claims.path.empty()) {
        ByteWriter out;
        wire::amf::write_amf0(out, arguments);
        if (out.written().size() <= kConnectArgumentsBytesMax)
            claims.connect_arguments = as_text(out.written());
    }
    if (!claims.is_empty())
        request_.claims = std::make_shared<const RelayClaims>(std::move(claims));
}

Result<void> Connection::next_session(io::Deadline deadline, std::chrono::seconds patience) {
    const auto waiting = deadline.sooner(io::Deadline::after(patience));
    for (;;) {
        const auto event = TRY(peer_.next_event(waiting));
        if (const auto* publishing = std::get_if<rtmp::WantsToPublish>(&event))
            return publish(*publishing, deadline);
        if (const auto* playing = std::get_if<rtmp::WantsToPlay>(&event))
            return play(*playing, deadline);
        if (const auto* warning = std::get_if<rtmp::PeerWarning>(&event))
            LOG_WARN(log_, "{}", warning->sentence);
        if (std::holds_alternative<rtmp::StreamDeleted>(event))
            return Error(Errc::closed, "the client deleted the stream");
    }
}

// The URL of a relay holds its client's query, which must not choose another virtual host than the relay has requested.
Result<void> Connection::obey_relay(wire::rtmp::StreamUrl& url) const {
    const bool is_stated = request_.claims != nullptr && !request_.claims->vhost.empty();
    if (is_stated)
        url.vhost = request_.claims->vhost;
    // A worker of an older program, during an upgrade: it names the virtual host as the host.
    else if (request_.is_sibling && url.vhost != url.host)
        return Error(Errc::denied, "the query of another worker's client names another virtual host");
    return {};
}

Result<void> Connection::identify(std::string_view stream_name, ClientKind kind) {
    request_.stream.clear();  // of the previous session
    request_.param.clear();
    auto url = TRY(wire::rtmp::parse_stream_url(request_.tc_url, stream_name, app_));
    TRY(obey_relay(url));
    if (url.stream.empty())
        return Error(Errc::denied, "a stream name is required: neither the call nor tcUrl nor app has one");
    TRY(wire::rtmp::admit(url));
    request_.vhost = url.vhost;
    request_.app = url.app;
    request_.stream = url.stream;
    request_.param = url.param;
    request_.kind = kind;
    return {};
}

Result<void> Connection::refuse_publish(const Error& error, io::Deadline deadline) {
    const auto code = code_for(error, "NetStream.Publish.BadName", "NetStream.Publish.Rejected");
    entry_.refuse(error);
    TRY(peer_.engine().reject_publish(code, error.sentence()));
    TRY(peer_.write_output(deadline.sooner(io::Deadline::after(kRefusalLimit))));
    return error;
}

Result<void> Connection::refuse_play(const Error& error, io::Deadline deadline) {
    const bool is_missing = error.code() == Errc::not_found;
    const auto code =
        code_for(error, "NetStream.Play.StreamNotFound", is_missing ? "NetStream.Play.StreamNotFound" : "NetStream.Play.Failed");
    entry_.refuse(error);
    TRY(peer_.engine().reject_play(code, error.sentence()));
    TRY(peer_.write_output(deadline.sooner(io::Deadline::after(kRefusalLimit))));
    return error;
}

// Waits until the client has read the answer and closes, or sends something.
[[gnu::noinline]] Result<void> Connection::send_elsewhere(const Redirect& redirect, io::Deadline deadline) {
    const auto urls = redirect_urls(redirect, request_);
    LOG_INFO_REPEATED(log_, "RTMP redirect to {}", redacted(urls.full));
    TRY(peer_.engine().redirect_play(urls.tc_url, urls.full, "the stream is on another server"));
    const auto limit = deadline.sooner(io::Deadline::after(kRedirectLimit));
    for (;;) {
        const auto event = peer_.next_event(limit);
        if (!event.ok() && event.code() == Errc::cancelled)
            return Error(event.error());
        if (!event.ok() || std::holds_alternative<rtmp::RedirectAnswered>(*event))
            return Error(Errc::closed, "redirected to " + redirect.rtmp);
    }
}

Result<void> Connection::publish(const rtmp::WantsToPublish& asked, io::Deadline deadline) {
    const ClientKind kind = kind_of(asked.style);
    const auto named = identify(asked.stream, kind);
    LOG_INFO_REPEATED(log_, "client identified, type={}, vhost={}, app={}, stream={}, param={}, duration=-1ms", name_of(kind),
                      request_.vhost, request_.app, request_.stream, redacted(request_.param));
    if (!named.ok())
        return refuse_publish(named.error(), deadline);
    StreamPlan plan;
    auto publication = admit_publisher(context_.admission, context_.streams, request_, plan, deadline);
    if (!publication.ok())
        return refuse_publish(publication.error(), deadline);
    LOG_INFO_REPEATED(log_, "source url={}, ip={}, cache={}/{}, is_edge=0, source_id=/", plan.url, request_.ip,
                      plan.play.gop_cache ? 1 : 0, plan.play.gop_cache_frames_max);
    StreamStay stay(entry_, plan, io::now());
    const AdmittedPublish admitted_publish(context_.streams, context_.events, request_, plan);
    auto ended = [&, owned = *std::move(publication)]() mutable -> Result<void> {
        TRY(peer_.engine().accept_publish());
        PublishSession session(peer_, plan, options_, std::move(owned), log_);
        publishing_ = &session;
        auto over = session.run(deadline);
        publishing_ = nullptr;
        return over;
    }();
    stay.end(ended);
    LOG_INFO_REPEATED(log_, "cleanup when unpublish, url={}", plan.url);
    return ended;
}

// The session is on the heap and this has a frame of its own, because the stack of a parked fiber should fit into one page.
[[gnu::noinline]] Result<std::unique_ptr<PlaySession>> Connection::begin_play(const StreamPlan& plan,
                                                                              const Ref<media::Source>& source,
                                                                              std::chrono::milliseconds duration,
                                                                              io::Deadline deadline) {
    media::WireFormat format;
    if (request_.is_relay() || request_.is_sibling)
        format.receiver = media::Receiver::node;
    if (format.is_relayed())
        format.tracks = media::TrackSelection::every;
    else if (peer_.engine().knows_tracks())
        format.tracks = media::TrackSelection::all;
    media::WireLogHold hold(source, format);
    TRY(catch_up(hold, deadline));
    return std::make_unique<PlaySession>(peer_, plan, options_, context_.fan_out, source, format, relay_start(request_, *source),
                                         duration, log_);
}

Result<void> Connection::play(const rtmp::WantsToPlay& asked, io::Deadline deadline) {
    const auto named = identify(asked.stream, ClientKind::rtmp_play);
    LOG_INFO_REPEATED(log_, "client identified, type=Play, vhost={}, app={}, stream={}, param={}, duration={}ms", request_.vhost,
                      request_.app, request_.stream, redacted(request_.param), asked.duration.count());
    if (!named.ok())
        return refuse_play(named.error(), deadline);
    const auto admitted = context_.admission.serve_play(request_, deadline);
    if (!admitted.ok())
        return refuse_play(admitted.error(), deadline);
    if (const auto* elsewhere = std::get_if<Redirect>(&*admitted))
        return send_elsewhere(*elsewhere, deadline);
    const StreamPlan& plan = std::get<StreamPlan>(*admitted);
    const AdmittedPlay admitted_play(context_.events, request_, plan);
    const auto source = context_.streams.find_or_create(plan.url, plan.play, plan.chunk_size);
    if (!source.ok())
        return refuse_play(source.error(), deadline);
    (*source)->set_options(plan.play);
    LOG_INFO_REPEATED(log_, "source url={}, ip={}, cache={}/{}, is_edge=0, source_id=/", plan.url, request_.ip,
                      plan.play.gop_cache ? 1 : 0, plan.play.gop_cache_frames_max);
    StreamStay stay(entry_, plan, io::now());
    TRY(peer_.engine().accept_play());
    const auto session = TRY(begin_play(plan, *source, asked.duration, deadline));
    playing_ = session.get();
    auto ended = session->run(deadline);
    stay.end(ended);
    playing_ = nullptr;
    peer_.own_traffic().sent_bytes += session->figures().sent_bytes;
    return ended;
}

}  // namespace live::session::rtmp
