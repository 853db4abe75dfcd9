// CredentialPolicy: checks a client's credentials. A server of the same operator presents a proof, and no callbacks are called
// for it. On an edge with token_traverse, an origin decides about the client's token.
#pragma once

#include <string>
#include <unordered_set>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/relay/relay_proof.hpp"
#include "service/relay/token_check.hpp"

namespace live::service::admission {

class CredentialPolicy {
public:
    // Both must outlive this.
    CredentialPolicy(const VhostPolicy& vhosts, relay::TokenCheck& tokens) : vhosts_(vhosts), tokens_(tokens) {}

    // Reports whether the client has proved that it is a server of the same operator. A proof is accepted once: call this once
    // per session. Does not suspend.
    bool is_trusted_relay(const session::ClientRequest& request);
    // Asks an origin about the client's token. Errc::denied, and errors as VhostPolicy::rules_of().
    Result<void> check_token(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);
    // Call this when the client's connection is closed. Reports whether it was a trusted relay.
    bool forget(const session::ClientRequest& request) { return trusted_ids_.erase(request.id) != 0; }

private:
    const VhostPolicy& vhosts_;
    relay::TokenCheck& tokens_;
    relay::RelayProofs proofs_;
    // Connections of trusted relays; one entry per connection, until forget().
    std::unordered_set<std::string> trusted_ids_;
};

}  // namespace live::service::admission
