#include "service/admission/routing_policy.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "service/cluster/hop_mark.hpp"

namespace live::service::admission {

namespace {

// How long a player waits for the first media of a stream that another worker publishes, before it is admitted without.
constexpr std::chrono::milliseconds kFirstMediaLimit{500};

}  // namespace

bool RoutingPolicy::has_mode(const std::string& name, relay::ClusterMode mode) const {
    const auto vhost = vhosts_.rules_of(name);
    return vhost.ok() && vhost->cluster.mode == mode;
}

bool RoutingPolicy::is_of_cluster(const std::string& vhost) const {
    return routes_.cluster.is_on() && has_mode(vhost, relay::ClusterMode::local);
}

bool RoutingPolicy::is_of_workers(const std::string& vhost) const {
    return routes_.workers.is_on() && has_mode(vhost, relay::ClusterMode::local);
}

bool RoutingPolicy::has_origin_peers(const std::string& name) const {
    const auto vhost = vhosts_.rules_of(name);
    return vhost.ok() && vhost->cluster.mode == relay::ClusterMode::local && vhost->cluster.origin_cluster;
}

ingest::StreamsOnDemand* RoutingPolicy::on_demand(const session::ClientRequest& request, const std::string& url) const {
    const auto found = std::ranges::find_if(on_demand_, [&url](const ingest::StreamsOnDemand* one) { return one->has(url); });
    return request.is_sibling || found == on_demand_.end() ? nullptr : *found;
}

bool RoutingPolicy::may_pull(const session::ClientRequest& request) const {
    if (!on_demand_.empty())
        if (const auto plan = vhosts_.plan_for(request); plan.ok() && on_demand(request, plan->url) != nullptr)
            return true;
    return is_edge(request.vhost) || has_origin_peers(request.vhost) || is_of_cluster(request.vhost) ||
           is_of_workers(request.vhost);
}

Result<std::optional<session::Redirect>> RoutingPolicy::redirect_publisher(const session::ClientRequest& request) const {
    if (!is_of_cluster(request.vhost) || routes_.cluster.takes_publishers())
        return std::optional<session::Redirect>();
    if (auto elsewhere = routes_.redirector.other_for_publisher(request))
        return elsewhere;
    return Error(Errc::limit, routes_.cluster.is_draining()
                                  ? "this node of the cluster is about to stop and takes no publishers: try again, at another one"
                                  : "this node of the cluster takes no publishers: publish at another one");
}

Result<void> RoutingPolicy::claim(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline) {
    if (is_of_workers(request.vhost))
        TRY(routes_.workers.claim(plan.url, plan.publish.takeover, deadline));
    // Ends the pull of a stream that another process has published until now, and that may have ended since.
    if (TRY(vhosts_.rules_of(request.vhost)).cluster.mode == relay::ClusterMode::local)
        routes_.relay.give_way(plan.url);
    if (is_of_cluster(request.vhost)) {
        TRY(routes_.cluster.claim(plan.url, plan.publish.takeover, deadline));
        // The same of another node.
        routes_.relay.give_way(plan.url);
    }
    return {};
}

Result<std::optional<session::Redirect>> RoutingPolicy::redirect_player(const session::ClientRequest& request,
                                                                        const session::StreamPlan& plan, io::Deadline deadline) {
    if (has_origin_peers(request.vhost) && !request.is_sibling &&
        !(is_of_workers(request.vhost) && TRY(is_on_other_worker(request, plan, deadline)))) {
        const auto& cluster = TRY(vhosts_.rules_of(request.vhost)).cluster;
        if (auto elsewhere = TRY(routes_.origin_peers.find(request, plan, cluster, deadline)))
            return elsewhere;
    }
    if (!is_of_cluster(request.vhost))
        return std::optional<session::Redirect>();
    return routes_.redirector.find(request, plan.url, deadline);
}

Result<bool> RoutingPolicy::needs_pull(const session::ClientRequest& request, const session::StreamPlan& plan,
                                       io::Deadline deadline) {
    if (is_edge(request.vhost) || TRY(is_elsewhere(request, plan, deadline)))
        return true;
    return on_demand(request, plan.url) != nullptr;
}

// A worker serves other workers only streams that are published on it, so that no chain of workers can form.
Result<bool> RoutingPolicy::is_on_other_worker(const session::ClientRequest& request, const session::StreamPlan& plan,
                                               io::Deadline deadline) {
    if (routes_.workers.publishes(plan.url))
        return false;
    if (request.is_sibling)
        return Error(Errc::not_found, "this worker does not have the stream");
    if (routes_.relay.has(plan.url))
        return true;
    const auto where = routes_.workers.find(plan.url, deadline);
    if (!where.ok() && where.code() == Errc::cancelled)
        return where.error();
    return where.ok() && where->has_value();
}

// If no node has the stream, the player waits here, as on a single server. Nodes do not pull for each other, because all of
// them use the same registry. Exceptions are streams that are pulled already, for readers that the stream's owner has sent
// here.
Result<bool> RoutingPolicy::is_elsewhere(const session::ClientRequest& request, const session::StreamPlan& plan,
                                         io::Deadline deadline) {
    if (is_of_workers(request.vhost))
        return is_on_other_worker(request, plan, deadline);
    if (!is_of_cluster(request.vhost) || routes_.cluster.publishes(plan.url))
        return false;
    if (request.is_relay()) {
        const auto pulled = routes_.relay.find(plan.url);
        const bool is_playing = pulled && pulled->state == relay::PullFacts::State::playing;
        if (is_playing || (pulled && cluster::has_branch_mark(request.param)))
            return true;
        return Error(Errc::not_found, "this node does not have the stream");
    }
    if (routes_.relay.has(plan.url))
        return true;
    const auto where = TRY(routes_.cluster.find(plan.url, deadline));
    if (std::holds_alternative<engine::cluster::There>(where))
        return true;
    return std::holds_alternative<engine::cluster::Unknown>(where) && !routes_.cluster.node()->neighbours().empty();
}

Result<void> RoutingPolicy::pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline) {
    // Another worker may have pulled it meanwhile.
    if (auto* const streams = on_demand(request, plan.url); streams != nullptr && !routes_.relay.has(plan.url)) {
        const auto fetched = streams->fetch(plan, deadline);
        if (fetched.ok() || fetched.code() == Errc::cancelled || !TRY(is_elsewhere(request, plan, deadline)))
            return fetched;
    }
    // A player waits for a silent publisher as on a server that is alone.
    const bool may_wait = is_of_workers(request.vhost) && !request.kind.row().needs_codecs;
    const auto limit = may_wait ? deadline.sooner(io::Deadline::after(kFirstMediaLimit)) : deadline;
    auto pulled = routes_.relay.pull(request, plan, limit);
    if (may_wait && !pulled.ok() && pulled.code() == Errc::not_found)
        return {};
    return pulled;
}

Result<void> RoutingPolicy::fetch(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline) {
    return TRY(needs_pull(request, plan, deadline)) ? pull(request, plan, deadline) : Result<void>();
}

std::optional<session::Redirect> RoutingPolicy::send_on(const session::ClientRequest& request) const {
    return is_of_cluster(request.vhost) ? routes_.redirector.send_on(request) : std::nullopt;
}

}  // namespace live::service::admission
