#include "app/api_facts.hpp"

#include <csignal>

#include <fmt/ranges.h>

#include "base/net/endpoint.hpp"

namespace live::app {

namespace {

std::optional<Endpoint> first_of(const std::vector<std::string>& texts) {
    const auto endpoints = texts.empty() ? Result<std::vector<Endpoint>>(std::vector<Endpoint>()) : parse_endpoint(texts[0]);
    return endpoints.ok() && !endpoints->empty() ? std::optional(endpoints->front()) : std::nullopt;
}

}  // namespace

ApiFacts::Totals ApiFacts::totals() const {
    const session::Traffic traffic = session::traffic_of(parts_.protocols);
    return {traffic.received_bytes, traffic.sent_bytes + parts_.fan_out.counters().bytes, parts_.places.used(),
            parts_.log.counters(), parts_.access_log.counters().lost};
}

api::VhostSettings::Shown ApiFacts::find(const std::string& name) const {
    const settings::Vhost* vhost = parts_.settings->find_vhost(name);
    if (vhost == nullptr || vhost->name != name)
        return {};
    const auto fragment = vhost->hls.enabled ? std::optional(vhost->hls.fragment) : std::nullopt;
    return {vhost->enabled, fragment};
}

std::optional<ApiFacts::Reach> ApiFacts::find(const std::string& vhost, const std::string& app, const std::string& stream) const {
    const auto serving = parts_.vhosts.rules_of(vhost);
    if (!serving.ok())
        return std::nullopt;
    const std::string url = service::admission::stream_url(serving->name, app, stream);
    const auto source = parts_.streams.find(url);
    if (!source || !source->is_published() || parts_.relay.find(url))
        return std::nullopt;
    const settings::Settings& settings = *parts_.settings;
    const auto rtmp = first_of(settings.listen);
    const auto http = settings.http_server.enabled ? first_of(settings.http_server.listen) : std::nullopt;
    if (!rtmp)
        return std::nullopt;
    return Reach{rtmp->ip == "0.0.0.0" ? "" : rtmp->ip, rtmp->port, http ? http->port : std::uint16_t{0}};
}

api::RawControl::Settings ApiFacts::settings() const {
    const settings::HttpApiOptions& api = parts_.settings->http_api;
    return {api.enabled,
            fmt::format("{}", fmt::join(api.listen, " ")),
            api.crossdomain,
            api.raw_api.enabled,
            api.raw_api.allow_reload,
            false,
            false};
}

void ApiFacts::request_reload() {
    if (parts_.workers.is_on())
        parts_.workers.request_reload();
    else
        std::raise(SIGHUP);
}

void ApiFacts::request_drain() {
    if (parts_.workers.seat().is_worker())
        parts_.workers.request_quit();
    else
        std::raise(SIGQUIT);
}

}  // namespace live::app
