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

}  // namespace live::settings
