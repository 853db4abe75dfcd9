// Decides which web pages may let a browser control the server. A browser sends requests for any page its user has open, also to
// addresses that only the user's machine reaches, and CORS does not stop requests whose response is not needed. Dry; other
// clients are not affected, since they can send anything.
#pragma once

#include <string_view>

#include "session/http/handler.hpp"

namespace live::session::http {

// A path of the API for operators; media and signalling are elsewhere.
bool is_control(std::string_view path);

// By its method, or because servers of this family accept the call as GET (rpc=reload of /api/v1/raw).
bool changes_state(const Request& request);

// False for a browser request on behalf of a page of another host: by Origin (RFC 6454, 7; a page on another port of the same
// host may), or for requests without one by Sec-Fetch-Site (Fetch Metadata, 2.3). Without a password, a page that has reached the
// loopback interface under a name is refused as well: any name can be made to point there (DNS rebinding).
bool may_control(const Request& request, bool has_password);

}  // namespace live::session::http
