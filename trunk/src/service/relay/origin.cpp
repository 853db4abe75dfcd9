#include "service/relay/origin.hpp"

#include <fmt/format.h>

#include <array>

#include "base/endpoint.hpp"
#include "base/host_and_port.hpp"

namespace live::service::relay {

namespace {

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix))
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

Scheme scheme_for(PullProtocol protocol) {
    switch (protocol) {
        case PullProtocol::flv: return Scheme::http;
        case PullProtocol::flvs: return Scheme::https;
        case PullProtocol::rtmp: break;
    }
    return Scheme::rtmp;
}

}  // namespace

std::string_view name_of(Scheme scheme) {
    switch (scheme) {
        case Scheme::rtmps: return "rtmps";
        case Scheme::http: return "http";
        case Scheme::https: return "https";
        case Scheme::worker: return "worker";
        case Scheme::rtmp: break;
    }
    return "rtmp";
}

std::uint16_t usual_port(Scheme scheme) {
    switch (scheme) {
        case Scheme::http: return 80;
        case Scheme::rtmps:
        case Scheme::https: return 443;
        case Scheme::rtmp:
        case Scheme::worker: break;
    }
    return 1935;
}

Origin worker_origin(std::uint16_t number) { return {"127.0.0.1", number, Scheme::worker}; }

std::string Origin::text() const { return fmt::format("{}://{}", name_of(scheme), Endpoint{host, port}.text()); }

Result<Origin> parse_origin(std::string_view text, PullProtocol protocol) {
    Origin origin;
    std::string_view rest = text;
    origin.scheme = scheme_for(protocol);
    origin.is_resolved = take_prefix(rest, "dns:");
    if (!origin.is_resolved)
        for (const Scheme scheme : {Scheme::rtmp, Scheme::rtmps, Scheme::http, Scheme::https})
            if (take_prefix(rest, fmt::format("{}://", name_of(scheme)))) {
                origin.scheme = scheme;
                break;
            }
    const auto place = parse_host(rest);
    if (!place.ok())
        return Error(Errc::malformed, fmt::format("origin \"{}\": {}", text.substr(0, 256), place.error().sentence()));
    origin.host = place->host;
    origin.port = place->port.value_or(usual_port(origin.scheme));
    return origin;
}

}  // namespace live::service::relay
