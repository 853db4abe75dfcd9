// ReferrerPolicy: `refer`, the rules about the page that a client comes from. Only RTMP clients report one.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "service/admission/vhost_policy.hpp"

namespace live::service::admission {

class ReferrerPolicy {
public:
    // `vhosts` must outlive this.
    explicit ReferrerPolicy(const VhostPolicy& vhosts) : vhosts_(vhosts) {}

    // Each: Errc::denied, and errors as VhostPolicy::rules_of(). None suspends.
    Result<void> check_all(const session::ClientRequest& request) const { return check(request, &access::ReferOptions::all); }
    Result<void> check_publish(const session::ClientRequest& request) const {
        return check(request, &access::ReferOptions::publish);
    }
    Result<void> check_play(const session::ClientRequest& request) const { return check(request, &access::ReferOptions::play); }

private:
    Result<void> check(const session::ClientRequest& request, std::vector<std::string> access::ReferOptions::*names) const;

    const VhostPolicy& vhosts_;
};

}  // namespace live::service::admission
