#include "session/rtc/candidates.hpp"

#include <algorithm>
#include <array>

#include "base/net/ip_network.hpp"
#include "base/text/ascii.hpp"

namespace live::session::rtc {

namespace {

bool is_address(std::string_view text) { return parse_ip(text).ok(); }
bool is_ipv6(std::string_view text) { return text.find(':') != std::string_view::npos; }

// Hosts without ports, in order and without duplicates.
class Hosts {
public:
    void add(const std::string& host, std::optional<std::uint16_t> port = std::nullopt) {
        HostAndPort place{host, port};
        if (std::ranges::find(places_, place) == places_.end())
            places_.push_back(std::move(place));
    }
    bool empty() const { return places_.empty(); }
    const std::vector<HostAndPort>& all() const { return places_; }

private:
    std::vector<HostAndPort> places_;
};

bool is_of_family(std::string_view address, IpFamily family) {
    return family == IpFamily::all || is_ipv6(address) == (family == IpFamily::ipv6);
}

void add_api_host(const CandidateInput& input, Hosts& hosts) {
    if (!input.options.api_as_candidates || input.api_host.empty() || is_loopback_host(input.api_host))
        return;
    if (is_address(input.api_host)) {
        hosts.add(input.api_host);
        return;
    }
    if (input.options.resolve_api_domain)
        for (const std::string& address : input.api_addresses)
            if (!is_loopback_host(address))
                hosts.add(address);
    if (input.options.keep_api_domain)
        hosts.add(input.api_host);
}

// False when the settings name none.
bool add_configured(const RtcServerOptions& options, Hosts& hosts) {
    bool any = false;
    for (const std::string& candidate : options.candidates) {
        if (is_wildcard_candidate(candidate))
            continue;
        if (const auto place = parse_host(candidate); place.ok()) {
            hosts.add(place->host, place->port);
            any = true;
        }
    }
    return any;
}

void add_automatic(const CandidateInput& input, Hosts& hosts) {
    const auto& found = input.bound_addresses.empty() ? input.device_addresses : input.bound_addresses;
    if (input.options.use_auto_detect_network_ip)
        for (const std::string& address : found)
            if (!input.bound_addresses.empty() || is_of_family(address, input.options.ip_family))
                hosts.add(address);
    if (!hosts.empty() || found.empty())
        return;
    const auto four = std::ranges::find_if(found, [](const std::string& address) { return !is_ipv6(address); });
    hosts.add(four != found.end() ? *four : found.front());
}

Hosts hosts_of(const CandidateInput& input) {
    Hosts hosts;
    if (input.asked)
        hosts.add(input.asked->host, input.asked->port);
    add_api_host(input, hosts);
    if (!add_configured(input.options, hosts))
        add_automatic(input, hosts);
    // Last, because it only works on this machine, or through a forwarded port, as with containers.
    if (input.options.api_as_candidates && !input.api_host.empty() && is_loopback_host(input.api_host))
        hosts.add(is_ipv6(input.api_host) ? "::1" : "127.0.0.1");
    return hosts;
}

}  // namespace

bool is_loopback_host(std::string_view host) {
    constexpr std::string_view kLocal = "localhost";
    if (host.size() >= kLocal.size() && ascii::are_same(host.substr(host.size() - kLocal.size()), kLocal))
        return host.size() == kLocal.size() || host[host.size() - kLocal.size() - 1] == '.';
    return host == "::1" || (host.starts_with("127.") && is_address(host));
}

bool is_wildcard_candidate(std::string_view candidate) {
    return candidate.empty() || candidate == "*" || candidate == "0.0.0.0" || candidate == "::";
}

std::vector<wire::sdp::Candidate> choose_candidates(const CandidateInput& input) {
    const bool wants_udp = input.options.protocol != RtcTransport::tcp;
    const bool wants_tcp = input.options.protocol != RtcTransport::udp;
    std::vector<wire::sdp::Candidate> chosen;
    const auto add_all = [&](const Hosts& hosts, std::uint16_t port, bool is_tcp) {
        for (const HostAndPort& place : hosts.all())
            if (chosen.size() < kCandidatesMax)
                chosen.push_back({place.host, place.port.value_or(port), is_tcp});
    };
    const Hosts hosts = hosts_of(input);
    if (wants_udp && input.udp_port != 0)
        add_all(hosts, input.udp_port, false);
    if (wants_tcp && input.tcp_port != 0)
        add_all(hosts, input.tcp_port, true);
    return chosen;
}

}  // namespace live::session::rtc
