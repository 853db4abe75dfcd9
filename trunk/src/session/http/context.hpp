// Shared by all HTTP connections of one listener. Owned by app; it and everything it points to outlive the connections.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "engine/http1/parser.hpp"
#include "engine/http2/flood_guard.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/credentials.hpp"
#include "session/common/traffic.hpp"
#include "session/content/gzip.hpp"
#include "session/http/idle_streams.hpp"
#include "session/http/router.hpp"
#include "wire/http/date.hpp"

namespace live::session::http {

// Access to paths with "/api/" in them: basic authentication (RFC 7617) where there is a name, and a bearer token (RFC 6750)
// where there is one.
struct AuthOptions {
    bool enabled = false;
    std::string username;
    std::string password;
    std::string token;
    // The token, and only it, also protects "/rtc/".
    bool guards_rtc = false;
    // The password also protects "/metrics".
    bool guards_metrics = false;
    // The guard of the context identifies users and tokens.
    bool takes_users = false;
};

// Counts of the HTTP/2 connections of one listener.
struct Http2Counters {
    std::uint64_t connections = 0;  // now
    std::uint64_t requests = 0;
    std::uint64_t refused_streams = 0;
    std::array<std::uint64_t, engine::http2::kFloods> floods{};  // closed connections, by engine::http2::Flood

    void add(const Http2Counters& other) {
        connections += other.connections;
        requests += other.requests;
        refused_streams += other.refused_streams;
        for (std::size_t i = 0; i < floods.size(); ++i)
            floods[i] += other.floods[i];
    }
};

// A request that changes the state of the server, answered.
struct ApiAction {
    std::string_view caller;
    std::string_view peer_ip;
    std::string_view method;
    std::string_view target;  // may contain secrets
    int status = 0;
};

// Identifies the callers of the HTTP API whose credentials are not in http_api.auth itself, and records their actions.
// Implemented by a higher room.
class ApiGuard {
public:
    // Without a role if the credentials are wrong. Suspends.
    virtual ApiCaller identify(const Credentials& credentials, const std::string& peer_ip, io::Deadline deadline) = 0;
    // The client has sent credentials of http_api.auth itself, right or wrong. False while its address must wait because it has
    // sent wrong ones. Must not suspend.
    virtual bool may_try(const std::string& peer_ip, bool is_right) = 0;
    // Must not suspend.
    virtual void note(const ApiAction& action) = 0;

protected:
    ~ApiGuard() = default;
};

struct Context {
    const Router& router;
    // Read buffer of all connections; shared with other fibers, touched only between two suspensions. At least 4 KiB.
    MutBytes scratch;
    // The Server header: "NAME/VERSION".
    std::string server;
    // crossdomain: allows pages of other origins, and answers OPTIONS.
    bool allows_cross_origin = true;
    AuthOptions auth;
    engine::http1::Limits limits;
    // Request counter for the log, over all connections.
    std::uint64_t requests = 0;
    Traffic traffic{};
    IdleStreams idle{};
    // JSONP: answers GET with callback= as a script.
    bool allows_jsonp = false;
    // The ports of all listeners that serve pages.
    std::vector<std::uint16_t> page_ports{};
    // Its clients are other workers of this server.
    bool is_sibling = false;
    wire::http::DateText date{};
    content::RepeatedBodies bodies{};
    Http2Counters http2{};
    // Frames of the HTTP/2 connection that sends; used between two suspensions, as scratch, which the handlers fill.
    std::vector<std::uint8_t> frames{};
    ApiGuard* guard = nullptr;
};

// Sets the caller of a request to the API from its credentials.
void identify_caller(const Context& context, Request& request, io::Deadline deadline);

// Records a request that changes the state of the server, after it was answered.
void note_action(const Context& context, const Request& request, int status);

// The response to a request that needs no handler: OPTIONS, a missing password, a page that may not control the server, a
// redirect, an unknown path. `match` is the result of the router for the request.
std::optional<Reply> own_answer(const Context& context, const Request& request, const Router::Match& match, const Log& log);

}  // namespace live::session::http
