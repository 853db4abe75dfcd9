#include "service/cluster/player_redirector.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes/random.hpp"
#include "base/net/endpoint.hpp"
#include "service/cluster/hop_mark.hpp"

namespace live::service::cluster {

namespace cluster = engine::cluster;
using session::ClientKind;

namespace {

using NodePort = std::uint16_t cluster::NodeRecord::*;

std::optional<NodePort> port_at(session::Reach reach) {
    switch (reach) {
        case session::Reach::rtmp: return &cluster::NodeRecord::rtmp_port;
        case session::Reach::http: return &cluster::NodeRecord::http_port;
        case session::Reach::api: return &cluster::NodeRecord::api_port;
        case session::Reach::none: break;
    }
    return std::nullopt;
}

std::string text_of_place(const std::string& host, std::uint16_t port) {
    return port == 0 ? std::string() : Endpoint{host, port}.text();
}

// An RTMP player that redirects by its tcUrl has the mark there.
std::vector<std::string> hops_of_player(const session::ClientRequest& request) {
    auto hops = hops_of(request.param);
    if (const std::size_t query_at = request.tc_url.find('?'); hops.empty() && query_at != std::string::npos)
        hops = hops_of(request.tc_url.substr(query_at));
    return hops;
}

}  // namespace

std::optional<NodePort> port_for(const session::ClientRequest& request) {
    const session::ClientKindRow& kind = request.kind.row();
    if (request.is_secure || request.is_relay() || !request.protocol.starts_with(kind.redirected_protocol))
        return std::nullopt;
    return port_at(kind.reach);
}

Result<std::optional<session::Redirect>> PlayerRedirector::find(const session::ClientRequest& request, const std::string& url,
                                                                io::Deadline deadline) {
    if (!cluster_.is_on() || !cluster_.options().redirect || !port_for(request))
        return std::optional<session::Redirect>();
    const auto pulled = relay_.find(url);
    const bool is_pulled = pulled && pulled->state == relay::PullFacts::State::playing;
    const bool has_stream = cluster_.publishes(url) || is_pulled;
    if (has_stream || cluster_.is_draining())
        return send(request, has_stream, nullptr);
    const auto where = TRY(cluster_.find(url, deadline));
    const auto* there = std::get_if<cluster::There>(&where);
    // If no node has the stream, the player waits for it here.
    return there == nullptr ? std::optional<session::Redirect>() : send(request, has_stream, &there->node);
}

std::optional<session::Redirect> PlayerRedirector::send_on(const session::ClientRequest& request) {
    if (!cluster_.is_on() || !cluster_.options().redirect || !cluster_.is_draining() || !port_for(request))
        return std::nullopt;
    return send(request, true, nullptr);
}

std::optional<session::Redirect> PlayerRedirector::other_for_publisher(const session::ClientRequest& request) const {
    const auto port = port_for(request);
    if (!cluster_.is_on() || !cluster_.options().redirect || !port)
        return std::nullopt;
    const cluster::ClusterNode& here = *cluster_.node();
    const auto* node = cluster::choose_node({here.self(), false, nullptr, here.neighbours(), *port, true}, random_number());
    return node == nullptr ? std::nullopt : std::optional(place_of(*node, mark()));
}

std::optional<session::Redirect> PlayerRedirector::move(const session::ClientRequest& request) const {
    if (!cluster_.is_on() || !cluster_.is_draining())
        return std::nullopt;
    const bool is_told_where = cluster_.options().redirect;
    const auto asked_to = request.is_secure ? std::nullopt : port_at(request.kind.row().drained_to);
    const auto port = !is_told_where ? std::optional(&cluster::NodeRecord::rtmp_port) : asked_to ? asked_to : port_for(request);
    if (!port)
        return std::nullopt;
    std::vector<cluster::NodeRecord> others = cluster_.node()->neighbours();
    const auto* node = is_publisher(request.kind) || !is_told_where
                           ? cluster::choose_node({.self = cluster_.node()->self(),
                                                   .others = others,
                                                   .port = *port,
                                                   .is_for_publisher = is_publisher(request.kind)},
                                                  random_number())
                           : choose(request, true, nullptr, others);
    if (node == nullptr)
        return std::nullopt;
    return is_told_where ? place_of(*node, mark()) : session::Redirect();
}

// `others` is the storage of the returned node.
const cluster::NodeRecord* PlayerRedirector::choose(const session::ClientRequest& request, bool has_stream,
                                                    const cluster::NodeRecord* owner,
                                                    std::vector<cluster::NodeRecord>& others) const {
    const auto port = port_for(request);
    const auto hops = hops_of_player(request);
    const cluster::ClusterNode& here = *cluster_.node();
    // A player that was redirected here is served here, unless this node drains; then it is not sent back.
    if (!hops.empty() && (!cluster_.is_draining() || hops.size() >= kHopsMax))
        return nullptr;
    others = here.neighbours();
    // The owner's record is newer than the list of nodes, which may lack it.
    if (owner != nullptr) {
        std::erase_if(others, [&](const cluster::NodeRecord& node) { return node.id == owner->id; });
        others.push_back(*owner);
    }
    std::erase_if(others, [&](const cluster::NodeRecord& node) { return std::ranges::find(hops, node.id) != hops.end(); });
    return cluster::choose_node({here.self(), has_stream, owner, others, *port}, random_number());
}

std::optional<session::Redirect> PlayerRedirector::send(const session::ClientRequest& request, bool has_stream,
                                                        const cluster::NodeRecord* owner) {
    std::vector<cluster::NodeRecord> others;
    const auto* node = choose(request, has_stream, owner, others);
    if (node == nullptr) {
        ++cluster_.placements.stayed;
        return std::nullopt;
    }
    ++cluster_.placements.sent;
    return place_of(*node, mark());
}

std::string_view puller_of(const session::ClientRequest& request, const session::StreamPlan& plan, Proof proof) {
    const bool is_believed = request.is_relay() && (proof == Proof::not_needed || plan.is_trusted_relay);
    return is_believed ? std::string_view(request.claims->node) : std::string_view();
}

std::optional<session::Redirect> PlayerRedirector::redirect_puller(const session::ClientRequest& request,
                                                                   const session::StreamPlan& plan) {
    if (!cluster_.is_on() || !cluster_.publishes(plan.url))
        return std::nullopt;
    const auto node = puller_of(request, plan, cluster_.options().secret.empty() ? Proof::not_needed : Proof::needed);
    if (node.empty())
        return std::nullopt;
    const auto* other = pullers_.enter(plan.url, node, request.id, cluster_.node()->neighbours());
    if (other == nullptr)
        return std::nullopt;
    ++cluster_.placements.handed_on;
    return place_of(*other, branch_mark(cluster_.node()->self().id));
}

void PlayerRedirector::on_play_ended(const session::ClientRequest& request, const std::string& url) {
    if (request.is_relay())
        pullers_.leave(url, request.id);
}

session::Redirect PlayerRedirector::place_of(const cluster::NodeRecord& node, std::string mark) const {
    return {text_of_place(node.host, node.rtmp_port), text_of_place(node.host, node.http_port),
            text_of_place(node.host, node.api_port), std::move(mark)};
}

std::string PlayerRedirector::mark() const { return hop_mark(cluster_.node()->self().id); }

}  // namespace live::service::cluster
