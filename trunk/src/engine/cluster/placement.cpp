#include "engine/cluster/placement.hpp"

#include <algorithm>
#include <vector>

namespace live::engine::cluster {

namespace {

bool is_up(const NodeRecord& node) { return node.state != NodeRecord::State::draining; }

bool is_less_used(const NodeRecord& one, const NodeRecord& other) {
    if (one.capacity != 0 && other.capacity != 0)
        return share_of(one) < share_of(other);
    return one.load < other.load;
}

// This node is the first one, if it is usable.
std::vector<const NodeRecord*> usable_nodes(const PlacementQuestion& question, bool in_region) {
    std::vector<const NodeRecord*> usable;
    const auto is_usable = [&](const NodeRecord& node) {
        return is_up(node) && (!question.is_for_publisher || node.state != NodeRecord::State::edge) &&
               share_of(node) < kFullShare && (!in_region || node.region == question.self.region);
    };
    if (is_usable(question.self))
        usable.push_back(&question.self);
    for (const NodeRecord& node : question.others)
        if (is_usable(node) && node.*question.port != 0 && node.id != question.self.id)
            usable.push_back(&node);
    return usable;
}

}  // namespace

double share_of(const NodeRecord& node) {
    return node.capacity == 0 ? 0 : static_cast<double>(node.load) / static_cast<double>(node.capacity);
}

const NodeRecord* choose_node(const PlacementQuestion& question, std::uint64_t random) {
    const NodeRecord& self = question.self;
    if (question.has_stream && is_up(self) && share_of(self) < kKeepShare)
        return nullptr;
    auto usable = usable_nodes(question, true);
    if (usable.empty())
        usable = usable_nodes(question, false);
    if (usable.empty())
        return nullptr;
    if (const NodeRecord* owner = question.owner; owner != nullptr && owner->capacity != 0 && share_of(*owner) < kAttractShare)
        for (const NodeRecord* node : usable)
            if (node->id == owner->id)
                return node;
    const std::uint64_t count = usable.size();
    const NodeRecord* first = usable[random % count];
    const NodeRecord* second = usable[(random / count) % count];
    const NodeRecord* best = is_less_used(*second, *first) ? second : first;
    return best == &self ? nullptr : best;
}

}  // namespace live::engine::cluster
