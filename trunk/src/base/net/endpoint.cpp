#include "base/net/endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

namespace live {

namespace {

bool is_address(int family, const std::string& ip) {
    in6_addr scratch{};
    return ::inet_pton(family, ip.c_str(), &scratch) == 1;
}

}  // namespace

Result<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (failure != std::errc() || end != text.data() + text.size() || port == 0)
        return Error(Errc::malformed, fmt::format("\"{}\" is not a port from 1..65535", text));
    return port;
}

std::string Endpoint::text() const { return is_ipv6() ? fmt::format("[{}]:{}", ip, port) : fmt::format("{}:{}", ip, port); }

Result<std::vector<Endpoint>> parse_endpoint(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        const std::uint16_t port = TRY(parse_port(text));
        return std::vector<Endpoint>{{"0.0.0.0", port}, {"::", port}};
    }
    std::string ip(text.substr(0, colon));
    const std::uint16_t port = TRY(parse_port(text.substr(colon + 1)));
    if (ip.size() > 2 && ip.front() == '[' && ip.back() == ']') {
        ip = ip.substr(1, ip.size() - 2);
        if (is_address(AF_INET6, ip))
            return std::vector<Endpoint>{{ip, port}};
    } else if (is_address(AF_INET, ip)) {
        return std::vector<Endpoint>{{ip, port}};
    }
    return Error(Errc::malformed, fmt::format("\"{}\" is not an address", text.substr(0, colon)));
}

}  // namespace live
