// The HTTP reply for each reason to refuse a player or publisher.
#pragma once

#include "base/result.hpp"
#include "session/http/handler.hpp"

namespace live::session::http {

constexpr int status_for(Errc code) {
    switch (code) {
        case Errc::not_found: return 404;
        case Errc::conflict: return 409;
        case Errc::limit:
        case Errc::timed_out: return 503;
        case Errc::unauthenticated: return 401;
        default: return 403;
    }
}

// Challenges a client whose credentials are missing or wrong (RFC 9110, 11.6.1): players send them only then. Asks a client that
// cannot be served now to return in some seconds.
inline void add_challenge(Reply& reply) {
    if (reply.status == 401) {
        reply.headers.emplace_back("WWW-Authenticate", "Basic realm=\"streams\"");
        reply.headers.emplace_back("WWW-Authenticate", "Bearer");
    }
    if (reply.status == 503)
        reply.headers.emplace_back("Retry-After", "5");
}

inline Reply refusal_of(const Error& error) {
    Reply reply = error_reply(status_for(error.code()), error.sentence());
    add_challenge(reply);
    return reply;
}

}  // namespace live::session::http
