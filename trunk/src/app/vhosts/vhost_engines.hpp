// VhostEngines: the transcode {} blocks of a virtual host. An edge has none: its origin transcodes what is published there.
#pragma once

#include <string>
#include <vector>

#include "base/options_of.hpp"
#include "service/engines/options.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class VhostEngines final : public OptionsOf<std::vector<service::engines::TranscodeOptions>> {
public:
    // `settings` outlives this.
    explicit VhostEngines(const settings::CurrentSettings& settings) : settings_(settings) {}

    const std::vector<service::engines::TranscodeOptions>* find(const std::string& vhost) const override {
        const settings::Vhost* const serving = settings_->find_vhost(vhost);
        const bool is_edge = serving != nullptr && serving->cluster.mode == service::relay::ClusterMode::remote;
        return serving != nullptr && serving->enabled && !is_edge ? &serving->transcodes : nullptr;
    }

private:
    const settings::CurrentSettings& settings_;
};

}  // namespace live::app
