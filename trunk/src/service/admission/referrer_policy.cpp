#include "service/admission/referrer_policy.hpp"

#include "service/access/refer.hpp"

namespace live::service::admission {

Result<void> ReferrerPolicy::check(const session::ClientRequest& request,
                                   std::vector<std::string> access::ReferOptions::*names) const {
    const access::ReferOptions& refer = TRY(vhosts_.rules_of(request.vhost)).refer;
    if (!refer.enabled || !request.kind.row().has_connect_call)
        return {};
    return access::check_refer(refer.*names, request.page_url);
}

}  // namespace live::service::admission
