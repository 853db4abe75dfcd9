// TokenPolicy: `access`, the signed tokens of publishers and players.
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "service/access/options.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/tokens/token_service.hpp"

namespace live::service::admission {

class TokenPolicy {
public:
    // Both must outlive this.
    TokenPolicy(const VhostPolicy& vhosts, const tokens::KeyRing& keys) : vhosts_(vhosts), keys_(keys) {}

    // Returns the time at which the client's token expires, if it has one that does. Errc::denied with a sentence for the client,
    // and errors as VhostPolicy::rules_of(). Does not suspend.
    Result<std::optional<tokens::UnixSeconds>> check(const session::ClientRequest& request, access::Role role,
                                                     tokens::UnixSeconds now) const;

private:
    const VhostPolicy& vhosts_;
    const tokens::KeyRing& keys_;
};

}  // namespace live::service::admission
