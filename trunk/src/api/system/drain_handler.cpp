#include "api/system/drain_handler.hpp"

#include "api/common/rows.hpp"
#include "base/net/endpoint.hpp"
#include "wire/http/status.hpp"

namespace live::api {

using session::http::Reply;
using session::http::Request;

// A drain ends the process. Without http_api.auth, only this machine may start one.
Reply DrainHandler::handle(const Request& request, io::Deadline) {
    const bool is_post = request.message.method == "POST";
    if (is_post) {
        // Another process of this server forwards the request of an unknown client.
        if (!control_.is_api_guarded() && (request.is_sibling || !Endpoint{request.peer_ip, 1}.is_loopback()))
            return session::http::error_reply(wire::http::Status::forbidden,
                                              "a drain can be started from this machine only, or with http_api.auth on");
        control_.request_drain();
    }
    const DrainFacts facts = control_.facts();
    const bool is_draining = facts.is_draining || is_post;
    return row_reply(request, server_, "data",
                     {{"state", is_draining ? "draining" : "serving"},
                      {"lasted_ms", facts.lasted.count()},
                      {"limit_ms", facts.limit.count()},
                      {"publishers", facts.clients.publishers, kAdd},
                      {"players", facts.clients.players, kAdd},
                      {"asked", facts.asked, kAdd},
                      {"redirected", facts.sent_elsewhere, kAdd}});
}

}  // namespace live::api
