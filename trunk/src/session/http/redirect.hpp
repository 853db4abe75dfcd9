// Sends an HTTP client to another server, for the same path.
#pragma once

#include <string>

#include "session/http/handler.hpp"

namespace live::session::http {

// `place` is "host:port". `mark`, "name=value", is added to the query if it is not empty. A virtual host that the request does
// not name in its query is added to it, because its Host changes. 302, or 307 for what is not GET: a client turns 302 of a POST
// into a GET (RFC 9110, 15.4.3).
Reply redirect_reply(const Request& request, const std::string& place, const std::string& vhost, const std::string& mark = {});

}  // namespace live::session::http
