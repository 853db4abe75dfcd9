// VhostOptions: one block of options of the virtual hosts, from the settings tree.
#pragma once

#include <string>

#include "base/options_of.hpp"
#include "settings/current_settings.hpp"

namespace live::settings {

template <class Options>
class VhostOptions final : public OptionsOf<Options> {
public:
    // `settings` outlives this.
    VhostOptions(const CurrentSettings& settings, Options Vhost::*block) : settings_(settings), block_(block) {}

    const Options* find(const std::string& vhost) const override {
        const Vhost* serving = settings_->find_vhost(vhost);
        return serving != nullptr && serving->enabled ? &(serving->*block_) : nullptr;
    }

private:
    const CurrentSettings& settings_;
    Options Vhost::*const block_;
};

}  // namespace live::settings
