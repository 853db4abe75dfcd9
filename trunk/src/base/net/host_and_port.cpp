#include "base/net/host_and_port.hpp"

#include <algorithm>

#include "base/net/endpoint.hpp"
#include "base/net/ip_network.hpp"
#include "base/text/ascii.hpp"

namespace live {

namespace {

constexpr std::size_t kNameBytesMax = 253;  // RFC 1035, 2.3.4, as text

bool is_address(std::string_view text) { return parse_ip(text).ok(); }

bool is_host_name(std::string_view text) {
    return !text.empty() && text.size() <= kNameBytesMax && std::ranges::all_of(text, [](char letter) {
        return ascii::is_alphanumeric(letter) || letter == '-' || letter == '.';
    });
}

}  // namespace

Result<HostAndPort> parse_host(std::string_view text) {
    if (text.starts_with('[')) {
        const std::size_t end = text.find(']');
        if (end == std::string_view::npos || !is_address(text.substr(1, end - 1)))
            return Error(Errc::malformed, "a host in brackets is an IPv6 address");
        HostAndPort place{std::string(text.substr(1, end - 1)), std::nullopt};
        const std::string_view rest = text.substr(end + 1);
        if (rest.empty())
            return place;
        if (!rest.starts_with(':'))
            return Error(Errc::malformed, "a port follows a colon");
        place.port = TRY(parse_port(rest.substr(1)));
        return place;
    }
    if (is_address(text))
        return HostAndPort{std::string(text), std::nullopt};
    const std::size_t colon = text.find(':');
    const std::string_view host = text.substr(0, colon);
    if (!is_host_name(host))
        return Error(Errc::malformed, "a host is an address or a name");
    HostAndPort place{std::string(host), std::nullopt};
    if (colon != std::string_view::npos)
        place.port = TRY(parse_port(text.substr(colon + 1)));
    return place;
}

}  // namespace live
