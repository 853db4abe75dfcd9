// The two addresses that a redirected RTMP client is told: where to connect, and the whole stream there.
#pragma once

#include <string>

#include "session/common/admission.hpp"

namespace live::session::rtmp {

struct RedirectUrls {
    std::string tc_url;
    std::string full;
};

// `place` is "host:port". A virtual host that the client did not name in a parameter is added, because its host name changes.
RedirectUrls redirect_urls(const std::string& place, const ClientRequest& client);

}  // namespace live::session::rtmp
