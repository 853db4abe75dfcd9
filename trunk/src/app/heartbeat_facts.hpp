// HeartbeatFacts: what the heartbeat says about this process, taken from the settings of the moment.
#pragma once

#include <memory>
#include <string>

#include "app/http_wiring.hpp"
#include "app/server_names.hpp"
#include "service/heartbeat/heartbeat.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class HeartbeatFacts final : public service::heartbeat::HeartbeatSource {
public:
    // What is referred to outlives this.
    HeartbeatFacts(const settings::CurrentSettings& settings, const ServerNames& names, const HttpWiring& http)
        : settings_(settings), names_(names), http_(http) {}

    service::heartbeat::HeartbeatOptions options() const override { return settings_->heartbeat; }
    service::heartbeat::Facts facts() const override;

private:
    const settings::CurrentSettings& settings_;
    const ServerNames& names_;
    const HttpWiring& http_;
};

// What SRS_DEVICE_IP says, else the address of that number (stats.network) among those that others can use; empty when there is
// none.
std::string device_ip(std::size_t number);

}  // namespace live::app
