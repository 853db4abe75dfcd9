#include "session/http_live/play_handler.hpp"

#include <algorithm>
#include <utility>

#include "session/http/client.hpp"
#include "session/http/exchange.hpp"
#include "session/http/status_for.hpp"
#include "session/http_live/play_session.hpp"
#include "wire/http/status.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::http_live {

namespace {

using wire::http::Status;
constexpr std::string_view kNoStream = "there is no live stream at this address";

ClientRequest player_of(const http::Request& request, const MountedUrl& url) {
    ClientRequest client = http::client_of(request, ClientKind::flv_play, url.vhost, url.stream.app, url.stream.stream);
    client.page_url = request.message.headers.find("Referer").value_or("");
    RelayClaims claims;
    claims.path = request.message.headers.find(kRelayPathField).value_or("").substr(0, kRelayPathBytesMax);
    if (const auto proof = request.message.headers.find(kRelayProofField).value_or(""); proof.size() <= kRelayProofBytesMax)
        claims.proof = proof;
    claims.has = read_relay_has(request.message.headers.find(kRelayHasField).value_or(""));
    claims.trace_parent = request.message.headers.find(kTraceParentField).value_or("").substr(0, kTraceParentBytesMax);
    if (!claims.is_empty())
        client.claims = std::make_shared<const RelayClaims>(std::move(claims));
    client.extension = request.path().substr(std::min(request.path().rfind('.'), request.path().size()));
    return client;
}

bool has_good_names(const MountedUrl& url) {
    return wire::rtmp::admit_vhost(url.vhost).ok() && wire::rtmp::admit_name(url.stream.app).ok() &&
           wire::rtmp::admit_name(url.stream.stream).ok();
}

}  // namespace

bool PlayHandler::takes(const http::Request& request) const {
    const auto url = context_.mounts.find(request);
    return url && has_good_names(*url);
}

Result<void> PlayHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(http::method_not_allowed("GET, HEAD, OPTIONS", "a live stream is played with GET"), deadline);
    if (request.is_head())
        return send_head(exchange, deadline);
    const auto session = session_for(exchange);
    if (!session)
        return exchange.send(http::error_reply(Status::not_found, kNoStream), deadline);
    return session->run(deadline);
}

Result<void> PlayHandler::send_head(http::Exchange& exchange, io::Deadline deadline) const {
    const auto url = context_.mounts.find(exchange.request());
    if (!url)
        return exchange.send(http::error_reply(Status::not_found, kNoStream), deadline);
    if (const auto allowed = context_.admission.check_play(player_of(exchange.request(), *url)); !allowed.ok())
        return exchange.send(http::refusal_of(allowed.error()), deadline);
    return exchange.send_head(head_of(url->mount), deadline);
}

// On the heap, because the stack of a parked fiber should fit into one page.
std::unique_ptr<PlaySession> PlayHandler::session_for(http::Exchange& exchange) const {
    auto url = context_.mounts.find(exchange.request());
    if (!url)
        return nullptr;
    auto client = player_of(exchange.request(), *url);
    return std::make_unique<PlaySession>(exchange, context_, std::move(client), *std::move(url));
}

}  // namespace live::session::http_live
