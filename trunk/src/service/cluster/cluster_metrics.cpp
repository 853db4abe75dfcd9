#include "engine/cluster/placement.hpp"
#include "service/cluster/cluster_service.hpp"

namespace live::service::cluster {

void ClusterService::write_metrics(MetricsText& text) const {
    if (!is_on())
        return;
    const auto& node = *this->node();
    const auto& counts = node.counts();
    text.family("millrace_cluster_capacity_bytes", MetricsText::Type::gauge,
                "Bytes per second that this node can send, from cluster.capacity. 0: unknown.")
        .sample(node.self().capacity);
    text.family("millrace_cluster_load_bytes", MetricsText::Type::gauge, "Bytes per second that this node sends.")
        .sample(node.self().load);
    text.family("millrace_cluster_capacity_used", MetricsText::Type::gauge,
                "The load divided by the capacity; 0 if the capacity is unknown.")
        .sample(engine::cluster::share_of(node.self()));
    text.family("millrace_cluster_placed_players_total", MetricsText::Type::counter,
                "Players on a node with redirect on, by whether they were sent to another node.")
        .sample(placements.sent, {{"to", "another"}})
        .sample(placements.stayed, {{"to", "here"}});
    text.family("millrace_cluster_handed_on_pulls_total", MetricsText::Type::counter,
                "Nodes that requested a stream of this node and were sent to another node that has it, because many pull it.")
        .sample(placements.handed_on);
    text.family("millrace_cluster_draining", MetricsText::Type::gauge,
                "1 while this node drains before a stop and sends its clients to other nodes.")
        .sample(std::uint64_t{is_draining() ? 1U : 0U});
    text.family("millrace_cluster_registry_up", MetricsText::Type::gauge, "1 if the registry of the cluster answers.")
        .combine(MetricFamily::Combine::greatest)
        .sample(std::uint64_t{node.is_up() ? 1U : 0U});
    text.family("millrace_cluster_registry_latency_seconds", MetricsText::Type::gauge,
                "Time from the newest answered command to its answer.")
        .combine(MetricFamily::Combine::greatest)
        .sample(std::chrono::duration<double>(node.latency()).count());
    text.family("millrace_cluster_commands_total", MetricsText::Type::counter, "Commands to the registry.")
        .sample(counts.commands);
    text.family("millrace_cluster_timeouts_total", MetricsText::Type::counter,
                "Commands to the registry without an answer in time.")
        .sample(counts.timeouts);
    text.family("millrace_cluster_owned_streams", MetricsText::Type::gauge,
                "Streams that are published on this node, by whether the registry has them.")
        .sample(std::uint64_t{node.streams().size() - node.streams().unannounced()}, {{"state", "registered"}})
        .sample(std::uint64_t{node.streams().unannounced()}, {{"state", "unregistered"}});
    text.family("millrace_cluster_lost_streams_total", MetricsText::Type::counter,
                "Publishers that were closed because another node had the stream.")
        .sample(counts.lost);
    text.family("millrace_cluster_nodes", MetricsText::Type::gauge, "Nodes of the cluster, including this one.")
        .sample(std::uint64_t{node.neighbours().size() + 1});
}

}  // namespace live::service::cluster
