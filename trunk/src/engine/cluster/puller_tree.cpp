#include "engine/cluster/puller_tree.hpp"

#include <algorithm>

#include "engine/cluster/placement.hpp"

namespace live::engine::cluster {

namespace {

bool takes_pullers(const NodeRecord& node) {
    return node.state != NodeRecord::State::draining && node.rtmp_port != 0 && share_of(node) < kFullShare;
}

}  // namespace

const NodeRecord* PullerTree::choose(const Pullers& direct, std::string_view region, std::span<const NodeRecord> others) {
    const NodeRecord* best = nullptr;
    std::uint64_t best_named = 0;
    for (const NodeRecord& node : others) {
        const auto puller = direct.find(node.id);
        if (puller == direct.end() || !takes_pullers(node))
            continue;
        const std::uint64_t named = puller->second.named;
        const bool is_near = node.region == region;
        const bool is_best_near = best != nullptr && best->region == region;
        if (best != nullptr && (is_near == is_best_near ? named >= best_named : is_best_near))
            continue;
        best = &node;
        best_named = named;
    }
    return best;
}

const NodeRecord* PullerTree::enter(const std::string& stream, std::string_view node, std::string_view client,
                                    std::span<const NodeRecord> others) {
    const auto asking = std::ranges::find(others, node, &NodeRecord::id);
    Pullers& direct = pullers_[stream];
    // The earlier connection of the node ends soon, or has ended undetected.
    if (const auto known = direct.find(std::string(node)); known != direct.end()) {
        known->second.client = client;
        return nullptr;
    }
    if (direct.size() >= direct_max_)
        if (const NodeRecord* other = choose(direct, asking != others.end() ? asking->region : std::string_view(), others)) {
            ++direct[other->id].named;
            return other;
        }
    // Begins with the lowest count, so that the node does not get all of the next pullers.
    const auto least = std::ranges::min_element(direct, {}, [](const auto& entry) { return entry.second.named; });
    const std::uint64_t named = least == direct.end() ? 0 : least->second.named;
    direct.emplace(node, Puller{std::string(client), named});
    return nullptr;
}

void PullerTree::leave(const std::string& stream, std::string_view client) {
    const auto found = pullers_.find(stream);
    if (found == pullers_.end())
        return;
    std::erase_if(found->second, [client](const auto& entry) { return entry.second.client == client; });
    if (found->second.empty())
        pullers_.erase(found);
}

std::size_t PullerTree::direct(const std::string& stream) const {
    const auto found = pullers_.find(stream);
    return found == pullers_.end() ? 0 : found->second.size();
}

}  // namespace live::engine::cluster
