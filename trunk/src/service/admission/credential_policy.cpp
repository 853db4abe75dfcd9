#include "service/admission/credential_policy.hpp"

#include "service/relay/relay_clock.hpp"

namespace live::service::admission {

bool CredentialPolicy::is_trusted_relay(const session::ClientRequest& request) {
    const auto vhost = vhosts_.rules_of(request.vhost);
    if (!vhost.ok() || !request.is_relay() || request.claims->proof.empty() || vhost->cluster.secret.empty())
        return false;
    if (trusted_ids_.contains(request.id))
        return true;  // another session of the same connection
    using relay::RelayedRequest;
    const auto role = is_publisher(request.kind) ? RelayedRequest::Role::publish : RelayedRequest::Role::play;
    const auto good =
        proofs_.check(request.claims->proof, vhost->cluster.secret,
                      {role, request.vhost, request.app, request.stream, request.relay_path()}, relay::unix_seconds_now());
    if (good.ok() && request.kind.row().connects_first)
        trusted_ids_.insert(request.id);
    return good.ok();
}

Result<void> CredentialPolicy::check_token(const session::ClientRequest& request, const session::StreamPlan& plan,
                                           io::Deadline deadline) {
    const auto& cluster = TRY(vhosts_.rules_of(request.vhost)).cluster;
    if (!cluster.token_traverse || cluster.mode != relay::ClusterMode::remote)
        return {};
    return tokens_.check(request, plan, cluster, deadline);
}

}  // namespace live::service::admission
