#include "api/streams/clusters_handler.hpp"

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/net/endpoint.hpp"
#include "base/net/host_and_port.hpp"
#include "base/text/json_text.hpp"
#include "engine/cluster/placement.hpp"
#include "io/fibers/loop.hpp"
#include "service/cluster/registry_view.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;

namespace cluster = engine::cluster;

Json node_json(const cluster::NodeRecord& node) {
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

Json registry_json(service::cluster::ClusterService& service, io::Deadline deadline) {
    const auto& here = *service.node();
    const auto& counts = here.counts();
    Json nodes = Json::array({node_json(here.self())});
    for (const cluster::NodeRecord& node : here.neighbours())
        nodes.push_back(node_json(node));
    const Json registry = {{"state", here.is_up() ? "up" : "away"},
                           {"latency_ms", std::chrono::duration<double, std::milli>(here.latency()).count()},
                           {"connections", service.connections()},
                           {"commands", counts.commands},
                           {"timeouts", counts.timeouts}};
    Json data = {{"node", here.self().id}, {"owned", here.streams().size()}, {"unannounced", here.streams().unannounced()},
                 {"lost", counts.lost},    {"registry", registry},           {"nodes", nodes}};
    data["redirect"] = service.options().redirect;
    data["players"] = {{"sent", service.placements.sent}, {"stayed", service.placements.stayed}};
    const auto all = service::cluster::list_streams(service, deadline);
    Json streams = Json::array();
    for (const auto& [url, own] : all.streams)
        streams.push_back({{"stream", url}, {"node", own.node}, {"epoch", own.epoch}, {"since_ms", own.since}});
    data["streams"] = streams;
    data["streams_whole"] = all.is_whole;
    return data;
}

}  // namespace

// Answers an edge or origin of the family's old clusters, for this server alone.
Reply ClustersHandler::find_stream(const Request& request) const {
    const auto& asked = request.target.query;
    Json query;
    for (const char* name : {"ip", "vhost", "app", "stream"})
        query[name] = asked.get(name);
    Json data = {{"query", query}, {"origin", nullptr}};
    const std::string vhost(asked.get("vhost", wire::rtmp::kDefaultVhost));
    if (const auto here = facts_.find(vhost, std::string(asked.get("app")), std::string(asked.get("stream")))) {
        // The address under which it was found is one that works, as far as is known.
        const auto coworker = parse_host(asked.get("coworker"));
        const std::string known = coworker.ok() ? coworker->host : request.host();
        const std::string ip = here->rtmp_ip.empty() || Endpoint{here->rtmp_ip, 1}.is_loopback() ? known : here->rtmp_ip;
        const std::string api =
            coworker.ok() && coworker->port ? Endpoint{coworker->host, *coworker->port}.text() : std::string();
        data["origin"] = {{"ip", ip}, {"port", here->rtmp_port}, {"vhost", vhost}, {"api", api}, {"routers", Json::array({api})}};
        if (here->http_port != 0)
            data["origin"]["http"] = Endpoint{ip, here->http_port}.text();
    }
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

Reply ClustersHandler::handle(const Request& request, io::Deadline deadline) {
    if (request.target.query.find("stream"))
        return find_stream(request);
    const TimePoint now = io::now();
    Json origins = Json::array();
    relay_.health().for_each([&](const std::string& url, const service::relay::OriginHealth::Record& record) {
        origins.push_back({{"url", url},
                           {"state", record.is_up ? "up" : "down"},
                           {"since_ms", (now - record.since) / std::chrono::milliseconds(1)},
                           {"tries", record.tries},
                           {"failures", record.failures},
                           {"last_error", record.last_error},
                           {"rtt_ms", std::chrono::duration<double, std::milli>(record.rtt).count()}});
    });
    Json pulls = Json::array();
    for (const auto& pull : relay_.list()) {
        Json one = {{"stream", pull.url}, {"vhost", pull.vhost}};
        one["origin"] = pull_json<Json>(pull, now);
        pulls.push_back(std::move(one));
    }
    const auto& totals = relay_.totals();
    Json data = {{"origins", origins},
                 {"pulls", pulls},
                 {"pushes", relay_.pushes()},
                 {"totals", {{"pulls", totals.pulls}, {"connections", totals.connections}, {"failovers", totals.failovers}}}};
    if (node_.is_on())
        data["cluster"] = registry_json(node_, deadline.sooner(io::Deadline::after(kListLimit)));
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

Reply ClusterWhereHandler::handle(const Request& request, io::Deadline deadline) {
    const std::string url(request.target.query.get("stream"));
    Json data = {{"stream", url}, {"state", node_.is_on() ? "unknown" : "alone"}, {"node", nullptr}};
    if (node_.is_on()) {
        const auto where = node_.find(url, deadline);
        if (!where.ok())
            return json_reply(request, envelope(server_, "data", text_of(data)));
        if (std::holds_alternative<cluster::Nowhere>(*where)) {
            data["state"] = "nowhere";
        } else if (std::holds_alternative<cluster::Here>(*where)) {
            data["state"] = "here";
            data["node"] = node_json(node_.node()->self());
        } else if (const auto* there = std::get_if<cluster::There>(&*where)) {
            data["state"] = "there";
            data["node"] = node_json(there->node);
            data["epoch"] = there->own.epoch;
        }
    }
    return json_reply(request, envelope(server_, "data", text_of(data)));
}

}  // namespace live::api
