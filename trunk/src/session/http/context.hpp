// What every HTTP connection of one listener works with. main owns it and what it points to, and both outlive the connections.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.hpp"
#include "engine/http1/parser.hpp"
#include "session/common/traffic.hpp"
#include "session/http/idle_streams.hpp"
#include "session/http/router.hpp"

namespace live::session::http {

// Who may ask for a path with "/api/" in it: basic authentication (RFC 7617), or with a token a bearer of it (RFC 6750).
struct AuthOptions {
    bool enabled = false;
    std::string username;
    std::string password;
    std::string token;
    // The token protects "/rtc/" too.
    bool guards_rtc = false;
};

struct Context {
    const Router& router;
    // Where every connection reads into; shared with other fibers, touched only between two suspensions. At least 4 KiB.
    MutBytes scratch;
    // The Server header: "NAME/VERSION".
    std::string server;
    // crossdomain: answers pages of other origins, and OPTIONS.
    bool allows_cross_origin = true;
    AuthOptions auth;
    engine::http1::Limits limits;
    // Counts requests for the log, over all connections.
    std::uint64_t requests = 0;
    Traffic traffic{};
    IdleStreams idle{};
    // JSONP: answers GET with callback= as a script.
    bool allows_jsonp = false;
};

}  // namespace live::session::http
