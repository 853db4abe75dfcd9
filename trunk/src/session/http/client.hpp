// An HTTP client as a request to admission: client and stream.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/websocket/handshake.hpp"
#include "session/common/admission.hpp"
#include "session/http/handler.hpp"

namespace live::session::http {

// "http-flv", "wss-ts": stream URLs have extensions.
inline std::string protocol_of(const Request& request) {
    std::string name = engine::websocket::asks_for_websocket(request.message) ? "ws" : "http";
    name += request.secure ? "s-" : "-";
    return name + request.path().substr(request.path().rfind('.') + 1);
}

// The claims of a client that names its trace; nullptr for others. Owners: all copies of its request.
inline std::shared_ptr<const RelayClaims> traced_claims(const Request& request) {
    const auto field = request.message.headers.find(kTraceParentField);
    if (!field || field->empty())
        return nullptr;
    RelayClaims claims;
    claims.trace_parent = field->substr(0, kTraceParentBytesMax);
    return std::make_shared<const RelayClaims>(std::move(claims));
}

// nullptr without credentials. Owners: all copies of its request.
inline std::shared_ptr<const Credentials> credentials_of(const Request& request) {
    auto sent = parse_authorization(request.message.headers.find("Authorization").value_or(""));
    if (!request.target.query.find("policy"))
        return sent;
    Credentials with_host = sent == nullptr ? Credentials() : *sent;
    with_host.authority = request.message.headers.find("Host").value_or("");
    return std::make_shared<const Credentials>(std::move(with_host));
}

inline ClientRequest client_of(const Request& request, ClientKind kind, const std::string& vhost, const std::string& app,
                               const std::string& stream) {
    ClientRequest client;
    client.id = request.id;
    client.kind = kind;
    client.ip = request.client_ip();
    client.peer_ip = request.peer_ip;
    client.peer = request.peer;
    client.protocol = protocol_of(request);
    client.is_secure = request.secure;
    client.vhost = vhost;
    client.app = app;
    client.stream = stream;
    client.param = request.target.raw_query.empty() ? "" : "?" + request.target.raw_query;
    client.tc_url = "rtmp://" + vhost + "/" + app;
    client.claims = traced_claims(request);
    client.credentials = credentials_of(request);
    return client;
}

}  // namespace live::session::http
