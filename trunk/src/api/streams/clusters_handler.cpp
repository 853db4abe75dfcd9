#include "api/streams/clusters_handler.hpp"

#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "engine/cluster/placement.hpp"
#include "io/fibers/loop.hpp"
#include "service/cluster/registry_view.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

namespace cluster = engine::cluster;

Row node_row(const cluster::NodeRecord& node) {
    return {{"id", node.id},
            {"host", node.host},
            {"rtmp", node.rtmp_port},
            {"http", node.http_port},
            {"api", node.api_port},
            {"region", node.region},
            {"state", cluster::name_of(node.state)},
            {"capacity", node.capacity},
            {"load", node.load},
            {"share", cluster::share_of(node)},
            {"version", node.version}};
}

Row registry_row(service::cluster::ClusterService& service, io::Deadline deadline) {
    const auto& here = *service.node();
    const auto& counts = here.counts();
    Rows nodes = {node_row(here.self())};
    for (const cluster::NodeRecord& node : here.neighbours())
        nodes.push_back(node_row(node));
    const auto all = service::cluster::list_streams(service, deadline);
    Rows streams;
    for (const auto& [url, own] : all.streams)
        streams.push_back({{"stream", url}, {"node", own.node}, {"epoch", own.epoch}, {"since_ms", own.since}});
    return {{"node", here.self().id},
            {"owned", here.streams().size()},
            {"unannounced", here.streams().unannounced()},
            {"lost", counts.lost},
            {"registry", Row{{"state", here.is_up() ? "up" : "away"},
                             {"latency_ms", std::chrono::duration<double, std::milli>(here.latency()).count()},
                             {"connections", service.connections()},
                             {"commands", counts.commands},
                             {"timeouts", counts.timeouts}}},
            {"nodes", std::move(nodes)},
            {"redirect", service.options().redirect},
            {"players", Row{{"sent", service.placements.sent}, {"stayed", service.placements.stayed}}},
            {"streams", std::move(streams)},
            {"streams_whole", all.is_whole}};
}

}  // namespace

// Answers an edge or origin of the family's old clusters, for this server alone.
Reply ClustersHandler::find_stream(const Request& request) const {
    const auto& asked = request.target.query;
    Row query;
    for (const char* name : {"ip", "vhost", "app", "stream"})
        query.add(name, asked.get(name));
    Row data = {{"query", std::move(query)}};
    const std::string vhost(asked.get("vhost", wire::rtmp::kDefaultVhost));
    const auto here = facts_.find(vhost, std::string(asked.get("app")), std::string(asked.get("stream")));
    data.rank = here.has_value();
    std::optional<Row> origin;
    if (here) {
        // The address under which it was found is one that works, as far as is known.
        const auto coworker = parse_host(asked.get("coworker"));
        const std::string known = coworker.ok() ? coworker->host : request.host();
        const std::string ip = here->rtmp_ip.empty() || Endpoint{here->rtmp_ip, 1}.is_loopback() ? known : here->rtmp_ip;
        const std::string api =
            coworker.ok() && coworker->port ? Endpoint{coworker->host, *coworker->port}.text() : std::string();
        origin = Row{{"ip", ip}, {"port", here->rtmp_port}, {"vhost", vhost}, {"api", api}, {"routers", std::vector{api}}};
        if (here->http_port != 0)
            origin->add("http", Endpoint{ip, here->http_port}.text());
    }
    data.add("origin", std::move(origin));
    return row_reply(request, server_, "data", data);
}

Reply ClustersHandler::handle(const Request& request, io::Deadline deadline) {
    if (request.target.query.find("stream"))
        return find_stream(request);
    const TimePoint now = io::now();
    Rows origins;
    relay_.health().for_each([&](const std::string& url, const service::relay::OriginHealth::Record& record) {
        Row& origin = origins.emplace_back(Row{{"url", url},
                                               {"state", record.is_up ? "up" : "down"},
                                               {"since_ms", (now - record.since) / std::chrono::milliseconds(1)},
                                               {"tries", record.tries, kAdd},
                                               {"failures", record.failures, kAdd},
                                               {"last_error", record.last_error},
                                               {"rtt_ms", std::chrono::duration<double, std::milli>(record.rtt).count()}});
        origin.key = url;
        origin.rank = record.is_up;
    });
    Rows pulls;
    for (const auto& pull : relay_.list())
        pulls.push_back({{"stream", pull.url},
                         {"vhost", pull.vhost},
                         {"origin", pull_row(pull, now)},
                         {"worker", engine::workers::Workers()}});
    const auto& totals = relay_.totals();
    Row data = {
        {"origins", std::move(origins), kAdd},
        {"pulls", std::move(pulls), kAdd},
        {"pushes", relay_.pushes(), kAdd},
        {"totals",
         Row{{"pulls", totals.pulls, kAdd}, {"connections", totals.connections, kAdd}, {"failovers", totals.failovers, kAdd}}}};
    if (node_.is_on())
        data.add("cluster", registry_row(node_, deadline.sooner(io::Deadline::after(kListLimit))));
    return row_reply(request, server_, "data", data);
}

Reply ClusterWhereHandler::handle(const Request& request, io::Deadline deadline) {
    const std::string url(request.target.query.get("stream"));
    std::string_view state = node_.is_on() ? "unknown" : "alone";
    std::optional<Row> node;
    const auto where = node_.is_on() ? node_.find(url, deadline) : cluster::StreamLocation(cluster::Nowhere());
    const auto* there = where.ok() ? std::get_if<cluster::There>(&*where) : nullptr;
    if (there != nullptr) {
        state = "there";
        node = node_row(there->node);
    } else if (where.ok() && std::holds_alternative<cluster::Here>(*where)) {
        state = "here";
        node = node_row(node_.node()->self());
    } else if (where.ok() && node_.is_on()) {
        state = "nowhere";
    }
    Row data = {{"stream", url}, {"state", state}, {"node", std::move(node)}};
    if (there != nullptr)
        data.add("epoch", there->own.epoch);
    return row_reply(request, server_, "data", data);
}

}  // namespace live::api
