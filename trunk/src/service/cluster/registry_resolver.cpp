#include "service/cluster/registry_resolver.hpp"

#include <algorithm>

#include "io/fibers/loop.hpp"

namespace live::service::cluster {

namespace {

relay::Origin origin_of(const engine::cluster::NodeRecord& node) { return {node.host, node.rtmp_port, relay::Scheme::rtmp}; }

bool has_origins(const relay::ClusterOptions& options) { return !options.origin.empty() || !options.backend.empty(); }

}  // namespace

relay::Location RegistryResolver::find(const std::string& url, const relay::ClusterOptions& options, io::Deadline deadline) {
    if (!service_.is_on() || !options.by_registry)
        return next_.find(url, options, deadline);
    // Copied, because a reload may free the options during the suspension.
    const relay::ClusterOptions asked = options;
    const auto where = service_.find(url, deadline);
    if (!where.ok())
        return relay::Unknown{where.error().sentence(), kRetry};
    if (const auto* there = std::get_if<engine::cluster::There>(&*where); there != nullptr && there->node.rtmp_port != 0)
        return relay::Located{{origin_of(there->node)}, there->own.epoch};
    if (has_origins(asked))
        return next_.find(url, asked, deadline);
    if (std::holds_alternative<engine::cluster::Unknown>(*where))
        return neighbours();
    return relay::Nowhere{"no node of the cluster has the stream"};
}

bool RegistryResolver::knows(std::string_view host, std::uint16_t port, const relay::ClusterOptions& options) const {
    if (!service_.is_on() || !options.by_registry)
        return next_.knows(host, port, options);
    const auto& nodes = service_.node()->neighbours();
    return std::ranges::any_of(nodes,
                               [&](const engine::cluster::NodeRecord& node) {
                                   return node.host == host && (node.rtmp_port == port || node.http_port == port);
                               }) ||
           next_.knows(host, port, options);
}

// A node that does not have the stream refuses at once. Only while the registry is away: after a late answer, or above the limit
// of waiting requests, the look-up is repeated.
relay::Location RegistryResolver::neighbours() {
    if (service_.node()->is_up())
        return relay::Unknown{"the registry has not answered in time", late_.take(io::now()) ? kLateRetry : kRetry};
    if (!budget_.take(io::now()))
        return relay::Unknown{"the registry is away, and too many streams are asked for", kRetry};
    relay::Located found;
    for (const auto& node : service_.node()->neighbours())
        if (node.rtmp_port != 0 && found.origins.size() < kNeighboursMax)
            found.origins.push_back(origin_of(node));
    if (found.origins.empty())
        return relay::Unknown{"the registry does not answer, and no other node is known", kRetry};
    return found;
}

}  // namespace live::service::cluster
