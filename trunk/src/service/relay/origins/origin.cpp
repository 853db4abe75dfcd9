#include "service/relay/origins/origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "session/srt/call/call_url.hpp"

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
        case Scheme::srt: return "srt";
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
        case Scheme::srt: return 10'080;
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
        for (const Scheme scheme : {Scheme::rtmp, Scheme::rtmps, Scheme::http, Scheme::https, Scheme::srt})
            if (take_prefix(rest, fmt::format("{}://", name_of(scheme)))) {
                origin.scheme = scheme;
                break;
            }
    if (origin.scheme == Scheme::srt) {
        const std::size_t question = std::min(rest.find('?'), rest.size());
        origin.query = rest.substr(question);
        rest = rest.substr(0, question);
        text = text.substr(0, text.find('?'));
    }
    const auto broken = [text](const Error& why) {
        return Error(Errc::malformed, fmt::format("origin \"{}\": {}", text.substr(0, 256), why.sentence()));
    };
    const auto place = parse_host(rest);
    if (!place.ok())
        return broken(place.error());
    origin.host = place->host;
    origin.port = place->port.value_or(usual_port(origin.scheme));
    if (origin.scheme != Scheme::srt)
        return origin;
    if (const auto call = session::srt::parse_call_url(origin.text() + origin.query); !call.ok())
        return broken(call.error());
    return origin;
}

}  // namespace live::service::relay
