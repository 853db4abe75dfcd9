// The two addresses for a redirected RTMP client: where to connect, and the whole stream there.
#pragma once

#include <string>

#include "session/common/admission.hpp"

namespace live::session::rtmp {

struct RedirectUrls {
    std::string tc_url;
    std::string full;
};

// To the RTMP place of `to`, with its mark. A virtual host that the client did not name in a parameter is added, because its host
// name changes.
RedirectUrls redirect_urls(const Redirect& to, const ClientRequest& client);
// The tcUrl for a client that keeps the name of its stream, with the query of its own.
std::string reconnect_url(const Redirect& to, const ClientRequest& client);

}  // namespace live::session::rtmp
