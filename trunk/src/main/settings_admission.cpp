#include "main/settings_admission.hpp"

namespace live::main_ {

std::string stream_url(const Vhost& vhost, const std::string& app, const std::string& stream) {
    std::string url = vhost.name == kDefaultVhost ? std::string() : vhost.name;
    return url + "/" + app + "/" + stream;
}

Result<const Vhost*> SettingsAdmission::serving_vhost(const std::string& name) const {
    const Vhost* vhost = settings_->find_vhost(name);
    if (vhost == nullptr)
        return Error(Errc::not_found, "no virtual host serves " + name);
    if (!vhost->enabled)
        return Error(Errc::denied, "virtual host " + vhost->name + " is switched off");
    return vhost;
}

Result<session::rtmp::RtmpOptions> SettingsAdmission::connect(const session::ClientRequest& request, io::Deadline) {
    return TRY(serving_vhost(request.vhost))->rtmp;
}

Result<session::StreamPlan> SettingsAdmission::plan_for(const session::ClientRequest& request) const {
    const Vhost* vhost = TRY(serving_vhost(request.vhost));
    return session::StreamPlan{stream_url(*vhost, request.app, request.stream), vhost->name, vhost->rtmp, vhost->play,
                               vhost->publish};
}

Result<session::StreamPlan> SettingsAdmission::publish(const session::ClientRequest& request, io::Deadline) {
    return plan_for(request);
}

Result<session::StreamPlan> SettingsAdmission::play(const session::ClientRequest& request, io::Deadline) {
    return plan_for(request);
}

}  // namespace live::main_
