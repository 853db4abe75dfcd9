// HeartbeatFacts: the facts about this process sent in the heartbeat, from the current settings.
#pragma once

#include <memory>
#include <string>

#include "app/wiring/http_wiring.hpp"
#include "app/wiring/server_names.hpp"
#include "service/heartbeat/heartbeat.hpp"
#include "session/common/protocol.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class HeartbeatFacts final : public service::heartbeat::HeartbeatSource {
public:
    // Everything referred to outlives this.
    HeartbeatFacts(const settings::CurrentSettings& settings, const ServerNames& names, const HttpWiring& http,
                   const session::Protocols& protocols)
        : settings_(settings), names_(names), http_(http), protocols_(protocols) {}

    service::heartbeat::HeartbeatOptions options() const override { return settings_->heartbeat; }
    service::heartbeat::Facts facts() const override;

private:
    const settings::CurrentSettings& settings_;
    const ServerNames& names_;
    const HttpWiring& http_;
    const session::Protocols& protocols_;
};

// SRS_DEVICE_IP, or else the address of that index (stats.network) among those reachable from outside; empty if missing.
std::string device_ip(std::size_t number);

}  // namespace live::app
