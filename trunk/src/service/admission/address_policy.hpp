// AddressPolicy: `security`, the rules about the address of a client's connection.
#pragma once

#include "base/result.hpp"
#include "service/access/security.hpp"
#include "service/admission/vhost_policy.hpp"

namespace live::service::admission {

class AddressPolicy {
public:
    // `vhosts` must outlive this.
    explicit AddressPolicy(const VhostPolicy& vhosts) : vhosts_(vhosts) {}

    // Errc::denied, and errors as VhostPolicy::rules_of(). Does not suspend.
    Result<void> check(const session::ClientRequest& request, access::Role role) const {
        return access::check_security(TRY(vhosts_.rules_of(request.vhost)).security, role, request.peer_ip);
    }

private:
    const VhostPolicy& vhosts_;
};

}  // namespace live::service::admission
