// SettingsAdmission: answers "may this client publish or play?" from the settings tree: which virtual host serves it, whether
// that one is switched on, and what a session of it works with.
#pragma once

#include "main/settings.hpp"
#include "session/common/admission.hpp"

namespace live::main_ {

class SettingsAdmission final : public session::Admission {
public:
    // `settings` outlives this, or is replaced by set_settings() before it goes.
    explicit SettingsAdmission(const Settings& settings) : settings_(&settings) {}
    void set_settings(const Settings& settings) { settings_ = &settings; }

    Result<session::rtmp::RtmpOptions> connect(const session::ClientRequest& request, io::Deadline deadline) override;
    Result<session::StreamPlan> publish(const session::ClientRequest& request, io::Deadline deadline) override;
    Result<session::StreamPlan> play(const session::ClientRequest& request, io::Deadline deadline) override;

    // The virtual host that serves `name`. Errc::not_found when there is none, Errc::denied when it is switched off.
    Result<const Vhost*> serving_vhost(const std::string& name) const;

private:
    Result<session::StreamPlan> plan_for(const session::ClientRequest& request) const;

    const Settings* settings_;
};

// What a source is called: "/app/stream" in the default virtual host, "vhost/app/stream" in another.
std::string stream_url(const Vhost& vhost, const std::string& app, const std::string& stream);

}  // namespace live::main_
