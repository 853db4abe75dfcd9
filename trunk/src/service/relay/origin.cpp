#include "service/relay/origin.hpp"

#include <fmt/format.h>

#include "base/endpoint.hpp"
#include "base/host_and_port.hpp"

namespace live::service::relay {

namespace {

constexpr std::uint16_t kRtmpPort = 1935;
constexpr std::uint16_t kRtmpsPort = 443;

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix))
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

std::string Origin::text() const { return (is_secure ? "rtmps://" : "rtmp://") + Endpoint{host, port}.text(); }

Result<Origin> parse_origin(std::string_view text) {
    Origin origin;
    std::string_view rest = text;
    origin.is_resolved = take_prefix(rest, "dns:");
    if (!origin.is_resolved && !take_prefix(rest, "rtmp://"))
        origin.is_secure = take_prefix(rest, "rtmps://");
    const auto place = parse_host(rest);
    if (!place.ok())
        return Error(Errc::malformed, fmt::format("origin \"{}\": {}", text.substr(0, 256), place.error().sentence()));
    origin.host = place->host;
    origin.port = place->port.value_or(origin.is_secure ? kRtmpsPort : kRtmpPort);
    return origin;
}

}  // namespace live::service::relay
