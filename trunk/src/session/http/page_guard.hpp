// Which pages a browser may let control the server. A browser sends requests for any page that its user has open, also to
// addresses that only the user's machine reaches, and CORS does not stop what needs no answer. Dry; other clients are not
// concerned, for they send what they like.
#pragma once

#include <string_view>

#include "session/http/handler.hpp"

namespace live::session::http {

// A path of the API, which operators use; media and signalling are elsewhere.
bool is_control(std::string_view path);

// By its method, or because it is a call that other servers of the family answer to GET (rpc=reload of /api/v1/raw).
bool changes_state(const Request& request);

// False for what a browser sends for a page of another host: by Origin (RFC 6454, 7; a page of another port of the same host
// may), or for requests without one by Sec-Fetch-Site (Fetch Metadata, 2.3). Without a password, a page that has reached the
// loopback interface under a name is refused as well: any name can be made to point there (DNS rebinding).
bool may_control(const Request& request, bool has_password);

}  // namespace live::session::http
