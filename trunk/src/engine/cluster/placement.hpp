// Chooses the best node for a client: this node, or another one. Any node can serve any stream, because it pulls missing ones; a
// pull costs the stream's owner as much as a player. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

// Shares of the capacity: a node that has the stream keeps its players up to the first one, an owner in the region attracts those
// of other nodes up to the second, and a node above the third gets no player.
inline constexpr double kKeepShare = 0.8;
inline constexpr double kAttractShare = 0.5;
inline constexpr double kFullShare = 0.95;

struct PlacementQuestion {
    const NodeRecord& self;
    bool has_stream = false;            // published here, or pulled
    const NodeRecord* owner = nullptr;  // of the stream, when it is another node
    std::span<const NodeRecord> others{};
    // The port that a node must have for this player's protocol.
    std::uint16_t NodeRecord::*port = &NodeRecord::rtmp_port;
    // Edges accept no publisher.
    bool is_for_publisher = false;
};

// Returns load divided by capacity; 0 if the capacity is unknown.
double share_of(const NodeRecord& node);
// Chooses among the usable nodes of this node's region, or else among all. Returns nullptr for this node. The owner is chosen
// while it has room; otherwise the one of two random choices that uses the smaller share of its capacity (between two of unknown
// capacity, the one that sends less). A draining node is never chosen, and keeps a player only if no other node is usable.
const NodeRecord* choose_node(const PlacementQuestion& question, std::uint64_t random);

}  // namespace live::engine::cluster
