#include "app/wiring/heartbeat_facts.hpp"

#include <cstdlib>

#include "io/net/network_interfaces.hpp"

namespace live::app {

std::string device_ip(std::size_t number) {
    if (const char* said = std::getenv("SRS_DEVICE_IP"); said != nullptr && *said != '\0')
        return said;
    const auto all = io::interface_addresses();
    const auto usable = all.ok() ? io::device_addresses(*all) : std::vector<std::string>();
    return number < usable.size() ? usable[number] : std::string();
}

service::heartbeat::Facts HeartbeatFacts::facts() const {
    const settings::Settings& settings = *settings_;
    service::heartbeat::Facts facts;
    facts.ip = device_ip(settings.stats.network);
    facts.server_id = names_.server_id;
    facts.service_id = names_.service_id;
    facts.process_id = names_.process_id;
    if (settings.heartbeat.summaries)
        facts.summaries = http_.summaries();
    facts.rtmp = settings.listen;
    if (settings.http_server.enabled)
        facts.http = settings.http_server.listen;
    if (settings.http_api.enabled)
        facts.api = settings.http_api.listen;
    for (const session::Protocol& protocol : protocols_)
        if (protocol.addresses)
            facts.others.emplace_back(protocol.name, protocol.addresses());
    return facts;
}

}  // namespace live::app
