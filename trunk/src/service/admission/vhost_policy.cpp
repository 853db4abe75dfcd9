#include "service/admission/vhost_policy.hpp"

namespace live::service::admission {

Result<VhostRules> VhostPolicy::rules_of(const std::string& name) const {
    const auto vhost = table_.find(name);
    if (!vhost)
        return Error(Errc::not_found, "no virtual host serves " + name);
    if (!vhost->enabled)
        return Error(Errc::denied, "virtual host " + vhost->name + " is switched off");
    return *vhost;
}

Result<session::StreamPlan> VhostPolicy::plan_for(const session::ClientRequest& request) const {
    const VhostRules vhost = TRY(rules_of(request.vhost));
    return session::StreamPlan{.url = stream_url(vhost.name, request.app, request.stream),
                               .vhost = vhost.name,
                               .chunk_size = vhost.rtmp.chunk_size,
                               .play = vhost.play,
                               .publish = vhost.publish};
}

bool VhostPolicy::guards_play(const std::string& name) const {
    const auto vhost = table_.find(name);
    return vhost && vhost->guards_play;
}

Result<session::rtmp::RtmpOptions> VhostPolicy::options_of(const std::string& vhost) const { return TRY(rules_of(vhost)).rtmp; }

}  // namespace live::service::admission
