// Decides which web pages may let a browser control the server. A browser sends requests for any page its user has open, also to
// addresses that only the user's machine reaches, and CORS does not stop requests whose response is not needed. Dry; other
// clients are not affected, since they can send anything.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "session/http/handler.hpp"

namespace live::session::http {

// A path of the API for operators; media and signalling are elsewhere.
bool is_control(std::string_view path);

// Reports whether the request changes state: by its method, or because it is a GET with an effect. These are rpc=reload of
// /api/v1/raw, as servers of this family accept it, mark=1 of /api/v1/memory, a profile, a valgrind check, a fault, and the
// calls of a GB28181 platform that open and close sessions.
bool changes_state(const Request& request);

struct PageRules {
    bool has_password = false;
    // The ports at which this server serves pages.
    std::span<const std::uint16_t> ports{};
};

// False for a browser request on behalf of a page of another origin (RFC 6454, 7): by Origin, which must have the host of the
// request, and its port or one of `ports`; for requests without one by Sec-Fetch-Site (Fetch Metadata, 2.3). Without a password,
// a page that has reached the loopback interface under a name is refused as well: any name can be made to point there (DNS
// rebinding).
bool may_control(const Request& request, const PageRules& rules);

}  // namespace live::session::http
