// VhostPolicy: a client is served by an enabled virtual host, which determines its plan.
#pragma once

#include <string>

#include "base/result.hpp"
#include "service/admission/vhost_rules.hpp"
#include "session/common/admission.hpp"
#include "session/rtmp/context.hpp"

namespace live::service::admission {

class VhostPolicy final : public session::rtmp::VhostOptions {
public:
    // `table` must outlive this.
    explicit VhostPolicy(const VhostRulesTable& table) : table_(table) {}

    // The virtual host that serves `name`. Errc::not_found if unknown, Errc::denied if it is disabled.
    Result<VhostRules> rules_of(const std::string& name) const;
    // The plan of a client with these names. Errors as rules_of().
    Result<session::StreamPlan> plan_for(const session::ClientRequest& request) const;

    // Whether the virtual host guards its players. A disabled one counts too.
    bool guards_play(const std::string& name) const;

    // session::rtmp::VhostOptions
    Result<session::rtmp::RtmpOptions> options_of(const std::string& vhost) const override;

private:
    const VhostRulesTable& table_;
};

}  // namespace live::service::admission
