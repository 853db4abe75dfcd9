// Where a client is best served: on this node, or on another one. Any node can serve any stream, because it pulls what it does
// not have; a pull costs the stream's owner as much as a player does. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

// Of its capacity, a node that has the stream keeps its players up to the first share, an owner in the region attracts those of
// other nodes up to the second, and nobody is sent to a node above the third.
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
    // Edges take none.
    bool is_for_publisher = false;
};

// Load by capacity; 0 when the capacity is unknown.
double share_of(const NodeRecord& node);
// nullptr: here. Of the usable nodes in this node's region, or else of all, the owner while it has room; otherwise the one of two
// random choices that uses the smaller share of its capacity (of two whose capacity is not known, the one that sends less).
// A node that drains is no choice, and keeps a player only when there is no other.
const NodeRecord* choose_node(const PlacementQuestion& question, std::uint64_t random);

}  // namespace live::engine::cluster
