#include "session/mpegts/listen_address.hpp"

#include <algorithm>
#include <optional>

#include "base/net/ip_network.hpp"
#include "base/net/transport_address.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session::mpegts {

namespace {

constexpr std::size_t kInterfaceCharactersMax = 15;  // IFNAMSIZ without its zero

Error broken(std::string_view text, const char* what) {
    return {Errc::malformed, "found \"" + std::string(text) + "\", " + what};
}

// RFC 5771 and RFC 4291, 2.7.
bool is_multicast(const IpAddress& ip) {
    const bool is_ipv4 = TransportAddress{ip, 0}.is_ipv4();
    return is_ipv4 ? ip.bytes[12] >> 4 == 0xE : ip.bytes[0] == 0xFF;
}

bool is_any(std::string_view ip) { return ip == "0.0.0.0" || ip == "::"; }

std::string_view without_brackets(std::string_view ip) {
    return ip.size() > 2 && ip.front() == '[' && ip.back() == ']' ? ip.substr(1, ip.size() - 2) : ip;
}

// A name of letters, digits and a few signs, as systems give them.
bool is_interface(std::string_view name) {
    return !name.empty() && name.size() <= kInterfaceCharactersMax && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' ||
               c == ':';
    });
}

}  // namespace

std::string ListenAddress::text() const {
    std::string text = endpoint.text();
    if (!source.empty())
        text += ", from " + source;
    return interface.empty() ? text : text + ", on " + interface;
}

Result<std::vector<ListenAddress>> parse_listen_address(std::string_view text) {
    std::string_view rest = text;
    ListenAddress address;
    if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
        address.interface = rest.substr(slash + 1);
        rest = rest.substr(0, slash);
        if (!is_interface(address.interface))
            return broken(text, "expected the name of a network interface behind the slash");
    }
    std::optional<std::string_view> group;
    if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
        group = without_brackets(rest.substr(0, at));
        rest = rest.substr(at + 1);
    }
    const auto endpoints = parse_endpoint(rest);
    if (!endpoints.ok())
        return broken(text, "expected [group@]ip:port[/interface], or a port");
    if (endpoints->size() > 1 && !group && address.interface.empty()) {
        std::vector<ListenAddress> both;
        for (const Endpoint& endpoint : *endpoints)
            both.push_back({endpoint, false, {}, {}, endpoint.is_ipv6()});
        return both;
    }
    address.endpoint = endpoints->front();
    if (!group) {
        address.multicast = is_multicast(TRY(parse_ip(address.endpoint.ip)));
    } else {
        const auto ip = parse_ip(*group);
        if (!ip.ok() || !is_multicast(*ip))
            return broken(text, "expected a multicast group in front of the @");
        if (endpoints->size() == 1 && !is_any(address.endpoint.ip))
            address.source = address.endpoint.ip;
        address.endpoint.ip = *group;
        address.multicast = true;
        if (!address.source.empty() && (address.source.find(':') != std::string::npos) != address.endpoint.is_ipv6())
            return broken(text, "expected a group and a sender of one IP version");
    }
    if (!address.interface.empty() && !address.multicast)
        return broken(text, "expected a multicast group, to which an interface belongs");
    return std::vector{address};
}

Result<std::string> output_of(std::string_view output, std::uint16_t port) {
    constexpr std::string_view kPort = "[port]";
    std::string url(output);
    for (std::size_t at = url.find(kPort); at != std::string::npos; at = url.find(kPort))
        url.replace(at, kPort.size(), std::to_string(port));
    const auto parsed = wire::rtmp::parse_stream_url(url);
    if (!parsed.ok() || parsed->stream.empty() || !wire::rtmp::admit(*parsed).ok())
        return broken(output, "expected rtmp://HOST/APP/STREAM, in which [port] may stand");
    return url;
}

}  // namespace live::session::mpegts
