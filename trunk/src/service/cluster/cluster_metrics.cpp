#include "engine/cluster/placement.hpp"
#include "service/cluster/cluster_service.hpp"

namespace live::service::cluster {

void ClusterService::write_metrics(MetricsText& text) const {
    if (!is_on())
        return;
    const auto& node = *this->node();
    const auto& counts = node.counts();
    text.family("millrace_cluster_capacity_bytes", MetricsText::Type::gauge,
                "cluster.capacity: what this node can send in a second. 0: unknown.")
        .sample(node.self().capacity);
    text.family("millrace_cluster_load_bytes", MetricsText::Type::gauge, "What it sends in a second.").sample(node.self().load);
    text.family("millrace_cluster_capacity_used", MetricsText::Type::gauge, "The load by the capacity; 0 when that is unknown.")
        .sample(engine::cluster::share_of(node.self()));
    text.family("millrace_cluster_placed_players_total", MetricsText::Type::counter,
                "Players of nodes that redirect, by whether they were sent to another node.")
        .sample(placements.sent, {{"to", "another"}})
        .sample(placements.stayed, {{"to", "here"}});
    text.family("millrace_cluster_handed_on_pulls_total", MetricsText::Type::counter,
                "Nodes that asked for a stream of this one and were sent to a node that has it, because many pull it.")
        .sample(placements.handed_on);
    text.family("millrace_cluster_draining", MetricsText::Type::gauge,
                "Whether this node is about to stop, and sends its clients away.")
        .sample(std::uint64_t{is_draining() ? 1U : 0U});
    text.family("millrace_cluster_registry_up", MetricsText::Type::gauge, "Whether the registry of the cluster answers.")
        .sample(std::uint64_t{node.is_up() ? 1U : 0U});
    text.family("millrace_cluster_registry_latency_seconds", MetricsText::Type::gauge,
                "From the newest answered command to its answer.")
        .sample(std::chrono::duration<double>(node.latency()).count());
    text.family("millrace_cluster_commands_total", MetricsText::Type::counter, "Commands to the registry.")
        .sample(counts.commands);
    text.family("millrace_cluster_timeouts_total", MetricsText::Type::counter, "Those that were not answered in time.")
        .sample(counts.timeouts);
    text.family("millrace_cluster_owned_streams", MetricsText::Type::gauge,
                "Streams that are published on this node, by whether the registry has them.")
        .sample(std::uint64_t{node.streams().size() - node.streams().unannounced()}, {{"state", "registered"}})
        .sample(std::uint64_t{node.streams().unannounced()}, {{"state", "unregistered"}});
    text.family("millrace_cluster_lost_streams_total", MetricsText::Type::counter,
                "Publishers that were closed because another node had the stream.")
        .sample(counts.lost);
    text.family("millrace_cluster_nodes", MetricsText::Type::gauge, "Nodes of the cluster, this one included.")
        .sample(std::uint64_t{node.neighbours().size() + 1});
}

}  // namespace live::service::cluster
