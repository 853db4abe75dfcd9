#include "app/wiring/listening.hpp"

#include <algorithm>

#include "base/log/log_format.hpp"

namespace live::app {

Result<std::vector<WantedEndpoint>> wanted_endpoints(const std::vector<std::string>& texts, io::PortSharing sharing) {
    std::vector<WantedEndpoint> wanted;
    for (const std::string& text : texts) {
        const auto endpoints = TRY(parse_endpoint(text));
        for (const Endpoint& endpoint : endpoints)
            wanted.push_back({endpoint, endpoints.size() > 1 && endpoint.is_ipv6(), sharing});
    }
    return wanted;
}

Result<std::unique_ptr<io::TcpListener>> listen_at(const WantedEndpoint& wanted, const std::string& label, const Log& log) {
    auto listener = io::TcpListener::listen(wanted.endpoint, wanted.sharing);
    if (listener.ok())
        return listener;
    if (!wanted.may_be_missing || listener.code() != Errc::system)
        return std::move(listener).error().during("listening for " + label);
    LOG_WARN(log, "{} does not listen at {}: {}", label, wanted.endpoint.text(), listener.error().sentence());
    return std::unique_ptr<io::TcpListener>();
}

namespace {

std::vector<std::uint16_t> stream_ports(const settings::Settings& settings) {
    std::vector<std::uint16_t> ports;
    for (const std::string& text : settings.http_server.enabled ? settings.http_server.listen : std::vector<std::string>())
        if (const auto wanted = wanted_endpoints({text}); wanted.ok())
            for (const WantedEndpoint& one : *wanted)
                ports.push_back(one.endpoint.port);
    return ports;
}

}  // namespace

Result<std::vector<std::unique_ptr<io::TcpListener>>> acme_listeners(const settings::Settings& settings, const Log& log) {
    const auto taken = stream_ports(settings);
    std::vector<std::unique_ptr<io::TcpListener>> listeners;
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(settings.acme.listen)))
        if (std::ranges::find(taken, wanted.endpoint.port) == taken.end())
            if (auto listener = TRY(listen_at(wanted, "http-01", log)))
                listeners.push_back(std::move(listener));
    return listeners;
}

}  // namespace live::app
