// The HTTP status for each reason to refuse a player or publisher.
#pragma once

#include "base/result.hpp"

namespace live::session::http {

constexpr int status_for(Errc code) {
    switch (code) {
        case Errc::not_found: return 404;
        case Errc::conflict: return 409;
        case Errc::limit: return 503;
        default: return 403;
    }
}

}  // namespace live::session::http
