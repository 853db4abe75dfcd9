#include "settings/conf/tree.hpp"

namespace live::settings {

const Vhost* Settings::find_vhost(std::string_view name) const {
    const Vhost* by_default = nullptr;
    for (const Vhost& vhost : vhosts) {
        if (vhost.name == name)
            return &vhost;
        if (vhost.name == kDefaultVhost)
            by_default = &vhost;
    }
    return by_default;
}

const StreamCasterOptions* Settings::find_caster(std::string_view caster) const {
    for (const StreamCasterOptions& one : stream_casters)
        if (one.enabled && one.caster == caster)
            return &one;
    return nullptr;
}

}  // namespace live::settings
