#include "session/http/page_guard.hpp"

#include "base/ascii.hpp"
#include "base/endpoint.hpp"
#include "base/ip_network.hpp"

namespace live::session::http {

namespace {

std::string_view host_of_origin(std::string_view origin) {
    const std::size_t scheme = origin.find("://");
    return scheme == std::string_view::npos ? std::string_view() : host_of_authority(origin.substr(scheme + 3));
}

bool is_address_or_localhost(const std::string& host) { return ascii::are_same(host, "localhost") || parse_ip(host).ok(); }

}  // namespace

bool is_control(std::string_view path) { return path.find("/api/") != std::string_view::npos; }

bool changes_state(const Request& request) { return !request.is_get() || request.target.query.get("rpc") == "reload"; }

bool may_control(const Request& request, bool has_password) {
    const auto origin = request.message.headers.find("Origin");
    const std::string host = request.host();
    // A name that another site has made to point at this machine.
    const bool is_good_host = has_password || !Endpoint{request.peer_ip, 0}.is_loopback() || is_address_or_localhost(host);
    // GET is the only method that a browser sends to the page's own host without an Origin.
    if (!origin)
        return request.message.headers.find("Sec-Fetch-Site").value_or("") != "cross-site" &&
               (!request.is_get() || host.empty() || is_good_host);
    return !host.empty() && ascii::are_same(host_of_origin(*origin), host) && is_good_host;
}

}  // namespace live::session::http
