// VhostOptions: one block of options of the virtual hosts, from the settings tree.
#pragma once

#include <string>

#include "base/options_of.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

template <class Options>
class VhostOptions final : public OptionsOf<Options> {
public:
    // `settings` outlives this.
    VhostOptions(const settings::CurrentSettings& settings, Options settings::Vhost::*block)
        : settings_(settings), block_(block) {}

    const Options* find(const std::string& vhost) const override {
        const settings::Vhost* serving = settings_->find_vhost(vhost);
        return serving != nullptr && serving->enabled ? &(serving->*block_) : nullptr;
    }

private:
    const settings::CurrentSettings& settings_;
    Options settings::Vhost::*const block_;
};

}  // namespace live::app
