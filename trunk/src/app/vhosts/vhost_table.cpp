#include "app/vhosts/vhost_table.hpp"

namespace live::app {

std::optional<service::admission::VhostRules> VhostTable::find(const std::string& name) const {
    const settings::Vhost* vhost = settings_->find_vhost(name);
    if (vhost == nullptr)
        return std::nullopt;
    return service::admission::VhostRules{.name = vhost->name,
                                          .enabled = vhost->enabled,
                                          .guards_play = vhost->guards_play(),
                                          .rtmp = vhost->rtmp,
                                          .play = vhost->play,
                                          .publish = vhost->publish,
                                          .security = vhost->security,
                                          .refer = vhost->refer,
                                          .access = vhost->access,
                                          .http_hooks = vhost->http_hooks,
                                          .forward = vhost->forward,
                                          .cluster = vhost->cluster};
}

std::string VhostTable::serving(const std::string& name) const {
    const settings::Vhost* vhost = settings_->find_vhost(name);
    return vhost == nullptr ? name : vhost->name;
}

}  // namespace live::app
