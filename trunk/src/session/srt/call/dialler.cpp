#include "session/srt/call/dialler.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "base/net/ip_network.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/resolve.hpp"
#include "session/srt/key_check.hpp"
#include "session/srt/opener.hpp"
#include "session/srt/publish_session.hpp"
#include "session/srt/push_session.hpp"

namespace live::session::srt {

namespace srt = engine::srt;

namespace {

srt::ConnectionOptions options_of(const CallUrl& url, const SrtServerOptions& server) {
    srt::ConnectionOptions options = connection_options(server);
    if (url.latency)
        options.receive_latency = options.peer_latency = *url.latency;
    // Others are taken for the nearest that are possible.
    if (url.key_refresh_packets > 0)
        options.key_refresh_packets = url.key_refresh_packets;
    if (url.key_announce_packets > 0)
        options.key_announce_packets = url.key_announce_packets;
    options.requires_encryption = !url.passphrase.empty();
    return options;
}

Result<srt::Caller::Encryption> encryption_of(const CallUrl& url, io::Deadline deadline) {
    srt::Caller::Encryption encryption;
    encryption.salt = srt::random_salt();
    encryption.kek = TRY(derive_key(url.passphrase, encryption.salt, url.key_bytes, deadline));
    return encryption;
}

}  // namespace

// All addresses of the host, one after the other.
Result<Dialler::Called> Dialler::call(const CallUrl& url, Call::Purpose purpose, io::Deadline deadline) {
    TRY(ready_());
    srt::Caller::Options options;
    options.stream_id = url.stream_id;
    options.connection = options_of(url, context_.vhosts.server());
    if (const auto limit = context_.vhosts.server().connect_timeout; limit.count() > 0)
        options.connect_timeout = limit;
    if (!url.passphrase.empty())
        options.encryption = TRY(encryption_of(url, deadline));
    Error last(Errc::not_found, "no address");
    for (const Endpoint& endpoint : TRY(io::resolve(url.host, url.port, deadline))) {
        options.to = {TRY(parse_ip(endpoint.ip)), endpoint.port};
        auto call = std::make_unique<Call>(context_.port, purpose);
        auto connected = call->connect(options, deadline);
        if (connected.ok())
            return Called{std::move(call), endpoint};
        last = std::move(connected).error();
        if (last.code() == Errc::cancelled)
            break;
    }
    return last;
}

Result<void> Dialler::pull(const CallUrl& url, ClientRequest request, const Log& log, const OnPulling& on_pulling,
                           io::Deadline deadline) {
    const Called called = TRY(call(url, Call::Purpose::pull, deadline));
    LOG_INFO(log, "SRT: connected to {}, url={}", called.endpoint.text(), url.label());
    request.kind = ClientKind::srt_publish;
    request.protocol = "srt";
    request.peer = called.endpoint.text();
    Opening opening;
    opening.call = called.call.get();
    const auto session = std::make_unique<PublishSession>(context_, std::move(request), log);
    on_pulling(session.get());
    auto ended = session->run(opening, deadline);
    on_pulling(nullptr);
    return ended;
}

Result<std::unique_ptr<ByteStream>> Dialler::open(const CallUrl& url, io::Deadline deadline) {
    const Called called = TRY(call(url, Call::Purpose::pull, deadline));
    auto stream = std::make_unique<ByteStream>(context_, called.endpoint);
    TRY(stream->begin(*called.call));
    return stream;
}

Result<void> Dialler::push(const CallUrl& url, const Ref<media::Source>& source, const Log& log, io::Deadline deadline,
                           const OnPushing& on_pushing) {
    const Called called = TRY(call(url, Call::Purpose::push, deadline));
    LOG_INFO(log, "SRT: connected to {}, url={}", called.endpoint.text(), url.label());
    Opening opening;
    opening.call = called.call.get();
    opening.options = options_of(url, context_.vhosts.server());
    ClientRequest request;
    request.kind = ClientKind::srt_play;
    request.protocol = "srt";
    request.peer = called.endpoint.text();
    const auto session = std::make_unique<PushSession>(context_, std::move(request), source, log);
    if (on_pushing)
        on_pushing(session.get());
    auto ended = session->run(opening, deadline);
    if (on_pushing)
        on_pushing(nullptr);
    return ended;
}

}  // namespace live::session::srt
