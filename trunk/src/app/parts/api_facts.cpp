#include "app/parts/api_facts.hpp"

#include <csignal>

#include <fmt/ranges.h>

namespace live::app {

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
    if (parts_.workers.identity().is_worker())
        parts_.workers.request_quit();
    else
        std::raise(SIGQUIT);
}

}  // namespace live::app
