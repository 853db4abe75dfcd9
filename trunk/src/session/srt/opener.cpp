#include "session/srt/opener.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/endpoint.hpp"
#include "base/net/ip_network.hpp"
#include "io/fibers/loop.hpp"
#include "session/srt/key_check.hpp"
#include "session/srt/play_session.hpp"
#include "session/srt/publish_session.hpp"

// For log lines that unauthenticated clients cause: each handshake counts as a new client, so a limit per client is not
// effective.
#define LOG_INFO_LIMITED(log, ...) LIVE_LOG(log, ::live::LogLevel::info, ::live::LogLimit::of_all, __VA_ARGS__)

namespace live::session::srt {

namespace srt = engine::srt;
using srt::RejectReason;

namespace {

ClientRequest client_of(const srt::Request& request, const StreamId& id) {
    ClientRequest client;
    client.kind = id.mode == Mode::publish ? ClientKind::srt_publish : ClientKind::srt_play;
    client.ip = client.peer_ip = ip_text(request.from.ip);
    client.peer = Endpoint{client.ip, request.from.port}.text();
    client.protocol = "srt";
    client.vhost = id.url.vhost;
    client.app = id.url.app;
    client.stream = id.url.stream;
    client.param = id.url.param;
    client.tc_url = "srt://" + id.url.vhost + "/" + id.url.app;
    if (!id.relay_path.empty())
        client.claims = std::make_shared<const RelayClaims>(RelayClaims{id.relay_path, {}, {}, {}});
    return client;
}

std::unique_ptr<Session> session_for(Context& context, ClientRequest request, const Log& log) {
    if (request.kind == ClientKind::srt_publish)
        return std::make_unique<PublishSession>(context, std::move(request), log);
    return std::make_unique<PlaySession>(context, std::move(request), log);
}

}  // namespace

RejectReason reject_reason_of(const Error& error) {
    switch (error.code()) {
        case Errc::malformed: return RejectReason::bad_request;
        case Errc::unsupported: return RejectReason::bad_mode;
        case Errc::limit: return RejectReason::overload;
        case Errc::unauthenticated:
        case Errc::denied: return RejectReason::forbidden;
        case Errc::not_found: return RejectReason::not_found;
        case Errc::conflict: return RejectReason::conflict;
        case Errc::closed:
        case Errc::cancelled: return RejectReason::closing;
        default: return RejectReason::unavailable;
    }
}

srt::ConnectionOptions connection_options(const SrtServerOptions& options) {
    srt::ConnectionOptions made;
    made.receive_latency = receive_latency(options);
    made.peer_latency = send_latency(options);
    made.tsbpd = options.tsbpdmode;
    made.too_late_drop = options.tlpktdrop;
    made.bandwidth_max = options.maxbw;
    made.send_buffer_bytes = options.sendbuf;
    made.receive_buffer_bytes = options.recvbuf;
    made.mtu = options.mss;
    made.payload_bytes_max = options.payloadsize;
    made.peer_idle_timeout = options.peer_idle_timeout;
    return made;
}

void Opener::open(srt::Request request, const Path& path) {
    auto opening = std::make_shared<Opening>();  // owner: the fiber; std::function needs a copy
    opening->request = std::move(request);
    opening->path = path;
    const auto started = sessions_.start("srt-session", [this, opening](io::Deadline forever) { serve(*opening, forever); });
    if (started.ok())
        return;
    LOG_WARN(context_.log, "SRT: no session: {}", started.error().sentence());
    context_.port.refuse(opening->request, path, RejectReason::resource);
    context_.port.openings().remove(PeerKey::of(opening->request));
}

void Opener::serve(Opening& opening, io::Deadline deadline) {
    const Log log = context_.log.with_id(random_id());
    LOG_INFO_LIMITED(log, "SRT client ip={}:{}, fd={}, version={:x}", ip_text(opening.request.from.ip), opening.request.from.port,
                     static_cast<std::uint32_t>(opening.request.socket_id), opening.request.capabilities.version);
    auto ended = run(opening, log, deadline);
    if (!opening.is_accepted) {
        if (!ended.ok() && ended.code() == Errc::cancelled &&
            context_.port.openings().has_given_up(PeerKey::of(opening.request), io::now()))
            ended = given_up_error();
        context_.port.openings().remove(PeerKey::of(opening.request));
    }
    if (!ended.ok() && ended.code() != Errc::cancelled)
        LOG_WARN(log, "srt client disconnect peer. ip={} reason=\"{}\"", ip_text(opening.request.from.ip), ended.error().text());
}

Result<StreamId> Opener::stream_id_of(const srt::Request& request) const {
    const SrtServerOptions& server = context_.vhosts.server();
    const std::string& text = request.stream_id.empty() ? server.default_streamid : request.stream_id;
    return parse_stream_id(text, {server.default_app, server.default_mode});
}

Result<void> Opener::run(Opening& opening, const Log& log, io::Deadline deadline) {
    const auto refuse = [&](const Error& error, RejectReason reason) {
        context_.port.refuse(opening.request, opening.path, reason);
        return error;
    };
    const std::string ip = ip_text(opening.request.from.ip);
    const auto place = context_.places.take(ConnectionLimits::Kind::client, ip, sizeof(PublishSession), io::now());
    if (!place.ok())
        return refuse(place.error(), RejectReason::overload);
    const auto id = stream_id_of(opening.request);
    if (!id.ok())
        return refuse(id.error(), reject_reason_of(id.error()));
    const auto options = context_.vhosts.find(id->url.vhost);
    if (!options.ok())
        return refuse(options.error(), reject_reason_of(options.error()));
    const SrtServerOptions& server = context_.vhosts.server();
    opening.options = connection_options(server);
    context_.port.openings().begin(PeerKey::of(opening.request), std::min(server.connect_timeout, kPatienceMax), io::fiber_id());
    if (const auto entered = context_.port.openings().enter_vhost(PeerKey::of(opening.request),
                                                                  context_.vhosts.serving_name(id->url.vhost), io::now());
        !entered.ok())
        return refuse(entered.error(), RejectReason::overload);
    opening.passphrase = options->passphrase.empty() ? server.passphrase : options->passphrase;
    opening.options.requires_encryption = !opening.passphrase.empty();
    if (server.pbkeylen != 0)
        opening.key_bytes = server.pbkeylen;
    opening.asks_for_passphrase = options->passphrase_callback;
    if (!opening.asks_for_passphrase) {
        auto kek = check_passphrase(context_.places, opening.request, opening.passphrase, deadline);
        if (!kek.ok())
            return refuse(kek.error(), key_reject_reason_of(kek.error()));
        opening.kek = *kek;
    }
    ClientRequest client = client_of(opening.request, *id);
    LOG_INFO_LIMITED(log, "@srt, streamid=#!::r={}/{},m={}, stream_url=/{}/{}, vhost={}, param={}", client.app, client.stream,
                     id->mode == Mode::publish ? "publish" : "request", client.app, client.stream, client.vhost,
                     loggable(client.param));
    LOG_INFO_LIMITED(log, "client identified, type={}, vhost={}, app={}, stream={}, param={}", name_of(client.kind), client.vhost,
                     client.app, client.stream, loggable(client.param));
    client.id = log.id();
    const auto session = session_for(context_, std::move(client), log);
    auto ended = session->run(opening, deadline);
    if (!opening.is_accepted && !ended.ok())
        return refuse(ended.error(), opening.key_reason.value_or(reject_reason_of(ended.error())));
    return ended;
}

}  // namespace live::session::srt
