#include "settings/conf/tree.hpp"

#include <algorithm>

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

bool ApiAuthOptions::takes_users(const Settings& settings) const {
    if (type != ApiAuthType::by_given)
        return false;
    const Vhost* const vhost = settings.find_vhost(kDefaultVhost);
    const auto is_for_api = [](const std::vector<std::string>& right) { return !right.empty() && right[0].starts_with("api"); };
    return (vhost != nullptr && vhost->access.enabled) ||
           std::ranges::any_of(settings.users, [&](const auto& user) { return std::ranges::any_of(user.rights, is_for_api); });
}

const StreamCasterOptions* Settings::find_caster(std::string_view caster) const {
    for (const StreamCasterOptions& one : stream_casters)
        if (one.enabled && one.caster == caster)
            return &one;
    return nullptr;
}

}  // namespace live::settings
