// What HTTP calls the reasons for which a client may not play or publish.
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
