#include "session/http/page_guard.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/net/endpoint.hpp"
#include "base/net/ip_network.hpp"
#include "base/text/ascii.hpp"

namespace live::session::http {

namespace {

// Each of these calls has the secret of the conf, which a page of another site does not have. Platforms send GET to any name.
constexpr std::string_view kSecretCalls = "/index/api/";

// Returns the port of "host:port"; 0 without a port.
std::uint16_t port_of_authority(std::string_view authority) {
    authority.remove_prefix(std::min(authority.find(']') + 1, authority.size()));  // an IPv6 address has colons
    const std::string_view text = authority.substr(std::min(authority.find(':') + 1, authority.size()));
    std::uint16_t port = 0;
    if (authority.find(':') != std::string_view::npos)
        std::from_chars(text.data(), text.data() + text.size(), port);
    return port;
}

// A browser leaves out the usual port of a scheme. A proxy that has terminated TLS forwards a Host without a port.
bool is_own_port(std::string_view origin, std::string_view host, std::span<const std::uint16_t> ports) {
    constexpr std::uint16_t kHttp = 80;
    constexpr std::uint16_t kHttps = 443;
    const std::size_t scheme = origin.find("://");
    const std::uint16_t named = port_of_authority(origin.substr(scheme + 3));
    const std::uint16_t port = named != 0 ? named : origin.starts_with("https:") ? kHttps : kHttp;
    const std::uint16_t asked = port_of_authority(host);
    return (asked == 0 ? port == kHttp || port == kHttps : port == asked) || std::ranges::find(ports, port) != ports.end();
}

bool is_own_page(std::string_view origin, std::string_view host, std::span<const std::uint16_t> ports) {
    const std::size_t scheme = origin.find("://");
    return scheme != std::string_view::npos && !host.empty() &&
           ascii::are_same(host_of_authority(origin.substr(scheme + 3)), host_of_authority(host)) &&
           is_own_port(origin, host, ports);
}

bool is_address_or_localhost(const std::string& host) { return ascii::are_same(host, "localhost") || parse_ip(host).ok(); }

}  // namespace

bool is_control(std::string_view path) { return path.find("/api/") != std::string_view::npos || path.starts_with("/gb/"); }

bool changes_state(const Request& request) {
    constexpr std::array<std::string_view, 6> kGets = {"/api/v1/fault",
                                                       "/api/v1/profile",
                                                       "/api/v1/valgrind",
                                                       "/index/api/openRtpServer",
                                                       "/index/api/connectRtpServer",
                                                       "/index/api/closeRtpServer"};
    const auto& query = request.target.query;
    // The router finds these with a slash at the end, too.
    std::string_view path = request.path();
    if (path.ends_with('/'))
        path.remove_suffix(1);
    return !request.is_get() || query.get("rpc") == "reload" || query.get("mark") == "1" ||
           std::ranges::find(kGets, path) != kGets.end();
}

bool may_control(const Request& request, const PageRules& rules) {
    if (request.is_get() && request.path().starts_with(kSecretCalls))
        return true;
    const auto& headers = request.message.headers;
    const std::string host = request.host();
    // A name that another site has made to point at this machine.
    const bool is_good_host = rules.has_password || !Endpoint{request.peer_ip, 0}.is_loopback() || is_address_or_localhost(host);
    if (const auto origin = headers.find("Origin"))
        return is_own_page(*origin, headers.find("Host").value_or(""), rules.ports) && is_good_host;
    // GET is the only method that a browser sends to the page's own host without an Origin. "none": the user typed the address.
    const std::string_view site = headers.find("Sec-Fetch-Site").value_or("none");
    return (site == "same-origin" || site == "none") && (!request.is_get() || host.empty() || is_good_host);
}

}  // namespace live::session::http
