// Shared by all HTTP connections of one listener. Owned by app; it and everything it points to outlive the connections.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/log/log.hpp"
#include "engine/http1/parser.hpp"
#include "engine/http2/flood_guard.hpp"
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
};

// The response to a request that needs no handler: OPTIONS, a missing password, a page that may not control the server, a
// redirect, an unknown path. `match` is the result of the router for the request.
std::optional<Reply> own_answer(const Context& context, const Request& request, const Router::Match& match, const Log& log);

}  // namespace live::session::http
