#include "service/cluster/placer.hpp"

#include <algorithm>
#include <vector>

#include "base/endpoint.hpp"
#include "base/random.hpp"
#include "service/cluster/hop_mark.hpp"

namespace live::service::cluster {

namespace cluster = engine::cluster;
using session::ClientKind;

namespace {

std::string text_of_place(const std::string& host, std::uint16_t port) {
    return port == 0 ? std::string() : Endpoint{host, port}.text();
}

// An RTMP player that knows tcUrl only has its mark there.
std::vector<std::string> hops_of_player(const session::ClientRequest& request) {
    auto hops = hops_of(request.param);
    if (const std::size_t query_at = request.tc_url.find('?'); hops.empty() && query_at != std::string::npos)
        hops = hops_of(request.tc_url.substr(query_at));
    return hops;
}

}  // namespace

std::optional<std::uint16_t cluster::NodeRecord::*> port_for(const session::ClientRequest& request) {
    if (request.is_secure || request.is_relay() || request.protocol.starts_with("ws"))
        return std::nullopt;
    switch (request.kind) {
        case ClientKind::rtmp_play: return &cluster::NodeRecord::rtmp_port;
        case ClientKind::flv_play:
        case ClientKind::hls_play: return &cluster::NodeRecord::http_port;
        // The other API has no redirect.
        case ClientKind::rtc_play:
            return request.protocol == "whep" ? std::optional(&cluster::NodeRecord::api_port) : std::nullopt;
        default: return std::nullopt;
    }
}

Result<std::optional<session::Redirect>> Placer::find(const session::ClientRequest& request, const std::string& url,
                                                      io::Deadline deadline) {
    const bool is_draining = node_.is_draining();
    if (!node_.is_on() || (!node_.options().redirect && !is_draining) || !port_for(request))
        return std::optional<session::Redirect>();
    const auto pulled = relay_.find(url);
    const bool is_pulled = pulled && pulled->state == relay::PullFacts::State::playing;
    const bool has_stream = node_.publishes(url) || is_pulled;
    if (has_stream || is_draining)
        return choose(request, has_stream, nullptr);
    const auto where = TRY(node_.find(url, deadline));
    const auto* there = std::get_if<cluster::There>(&where);
    // A stream that no node has is waited for here.
    return there == nullptr ? std::optional<session::Redirect>() : choose(request, has_stream, &there->node);
}

std::optional<session::Redirect> Placer::send_on(const session::ClientRequest& request) {
    if (!node_.is_on() || !node_.is_draining() || !port_for(request))
        return std::nullopt;
    return choose(request, true, nullptr);
}

std::optional<session::Redirect> Placer::other_for_publisher(const session::ClientRequest& request) const {
    if (!node_.is_on() || !node_.is_draining() || request.is_secure)
        return std::nullopt;
    const cluster::Member& member = *node_.member();
    const auto* node = cluster::choose_node({member.self(), false, nullptr, member.neighbours(), &cluster::NodeRecord::rtmp_port},
                                            random_number());
    if (node == nullptr)
        return std::nullopt;
    return session::Redirect{text_of_place(node->host, node->rtmp_port), {}, {}, {}};
}

std::optional<session::Redirect> Placer::choose(const session::ClientRequest& request, bool has_stream,
                                                const cluster::NodeRecord* owner) {
    const auto port = port_for(request);
    const auto hops = hops_of_player(request);
    const cluster::Member& member = *node_.member();
    // One that was sent here stays, unless this node drains; then it is not sent back.
    const bool is_settled = !hops.empty() && (!node_.is_draining() || hops.size() >= kHopsMax);
    std::vector<cluster::NodeRecord> others = is_settled ? std::vector<cluster::NodeRecord>() : member.neighbours();
    // Its record has just been read; it may not be listed yet.
    if (owner != nullptr) {
        std::erase_if(others, [&](const cluster::NodeRecord& node) { return node.id == owner->id; });
        others.push_back(*owner);
    }
    std::erase_if(others, [&](const cluster::NodeRecord& node) { return std::ranges::find(hops, node.id) != hops.end(); });
    const auto* node =
        is_settled ? nullptr : cluster::choose_node({member.self(), has_stream, owner, others, *port}, random_number());
    if (node == nullptr) {
        ++node_.placements.stayed;
        return std::nullopt;
    }
    ++node_.placements.sent;
    return session::Redirect{text_of_place(node->host, node->rtmp_port), text_of_place(node->host, node->http_port),
                             text_of_place(node->host, node->api_port), hop_mark(member.self().id)};
}

}  // namespace live::service::cluster
