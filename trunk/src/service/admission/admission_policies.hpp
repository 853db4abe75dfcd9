// AdmissionPolicies: admits clients of every protocol by the same policies in the same order. Each policy is a class beside this
// one; publish() and play() are the order. A policy that applies to some protocols only passes the clients of the others.
#pragma once

#include <optional>

#include "media/source/stream_table.hpp"
#include "service/admission/access_policy.hpp"
#include "service/admission/address_policy.hpp"
#include "service/admission/callback_policy.hpp"
#include "service/admission/credential_policy.hpp"
#include "service/admission/referrer_policy.hpp"
#include "service/admission/routing_policy.hpp"
#include "service/admission/vhost_policy.hpp"
#include "session/common/admission.hpp"
#include "session/limits/memory_budget.hpp"

namespace live::service::admission {

// All must outlive the policies. They are used from the first client on, and not before.
struct AdmissionParts {
    const VhostRulesTable& vhosts;
    const session::MemoryBudget& memory;
    media::StreamTable& streams;
    hooks::HookService& hooks;
    relay::TokenCheck& tokens;
    const tokens::KeyRing& keys;
    tokens::KeySets& key_sets;
    users::UserService& users;
    Routes routes;
};

class AdmissionPolicies final : public session::Admission {
public:
    explicit AdmissionPolicies(const AdmissionParts& parts)
        : memory_(parts.memory),
          streams_(parts.streams),
          vhosts_(parts.vhosts),
          referrers_(vhosts_),
          addresses_(vhosts_),
          access_(vhosts_, parts.keys, parts.key_sets, parts.users),
          credentials_(vhosts_, parts.tokens),
          callbacks_(vhosts_, parts.vhosts, parts.hooks),
          routing_(vhosts_, parts.routes) {}
    AdmissionPolicies(const AdmissionPolicies&) = delete;
    AdmissionPolicies& operator=(const AdmissionPolicies&) = delete;

    // Memory, virtual host, refer.all, relay's proof, on_connect, address, access, token, refer.publish, routing, end of a
    // publisher that has left, on_publish, forward.backend, claim of the stream.
    session::Answer publish(const session::ClientRequest& request, io::Deadline deadline) override;
    // Virtual host, refer.all, relay's proof, on_connect, address, access, token, redirect, on_play, refer.play, routing.
    session::Answer play(const session::ClientRequest& request, io::Deadline deadline) override;
    Result<void> pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline) override;
    bool may_pull(const session::ClientRequest& request) const override { return routing_.may_pull(request); }
    std::optional<session::Redirect> send_on(const session::ClientRequest& request) const override {
        return routing_.send_on(request);
    }
    // refer.all, virtual host, address, access, refer.play: the policies that call no service.
    Result<void> check_play(const session::ClientRequest& request) const override;
    bool guards_play(const session::ClientRequest& request) const override { return vhosts_.guards_play(request.vhost); }

    // For a reader other than a player, without policies: returns when this node has the stream, pulled if a player's would be.
    // Errors as VhostPolicy::plan_for() and pull().
    Result<void> fetch(const session::ClientRequest& request, io::Deadline deadline);
    // The connection of a client is closed. Does not suspend.
    void report_closed(const session::ClientRequest& request, const session::Traffic& traffic);

    const VhostPolicy& vhosts() const { return vhosts_; }
    const AccessPolicy& access() const { return access_; }
    void add_streams_on_demand(ingest::StreamsOnDemand& streams) { routing_.add_streams_on_demand(streams); }
    const RoutingPolicy& routing() const { return routing_; }
    CallbackPolicy& callbacks() { return callbacks_; }

private:
    // The policies that publishers and players have in common. Sets plan.is_trusted_relay.
    Result<void> check_client(const session::ClientRequest& request, const hooks::Subject& subject, session::StreamPlan& plan,
                              io::Deadline deadline);
    session::Answer play_files(const hooks::Subject& subject, session::StreamPlan plan, io::Deadline deadline);
    Result<void> end_gone_publisher(const session::StreamPlan& plan, io::Deadline deadline);

    const session::MemoryBudget& memory_;
    media::StreamTable& streams_;
    const VhostPolicy vhosts_;
    const ReferrerPolicy referrers_;
    const AddressPolicy addresses_;
    const AccessPolicy access_;
    CredentialPolicy credentials_;
    CallbackPolicy callbacks_;
    RoutingPolicy routing_;
};

}  // namespace live::service::admission
