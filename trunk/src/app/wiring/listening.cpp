#include "app/wiring/listening.hpp"

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

}  // namespace live::app
