// PullerTree: the nodes that pull the streams of this one. This node does not send a popular stream to all nodes: above
// kDirectMax, it redirects a node to one that has the stream. Depth 2 serves kDirectMax² nodes. Only nodes that this node serves
// are targets, and none of those is redirected, so no loop can form. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

class PullerTree {
public:
    // The nodes to which this node sends a stream.
    static constexpr std::size_t kDirectMax = 64;

    explicit PullerTree(std::size_t direct_max = kDirectMax) : direct_max_(direct_max) {}

    // `node` requests a stream that is published here, over the connection `client`. Returns nullptr if this node serves it,
    // until leave(). Otherwise `node` must pull from the returned one: a node that is served here and takes clients, preferably
    // in its region, with the fewest redirects so far. If `others`, the listed nodes, has no such node, this node serves it in
    // excess of the maximum. An unlisted node counts like any other, but is never a target.
    const NodeRecord* enter(const std::string& stream, std::string_view node, std::string_view client,
                            std::span<const NodeRecord> others);
    void leave(const std::string& stream, std::string_view client);

    std::size_t direct(const std::string& stream) const;

private:
    struct Puller {
        std::string client;  // its newest connection
        std::uint64_t named = 0;
    };
    using Pullers = std::unordered_map<std::string, Puller>;  // by node

    static const NodeRecord* choose(const Pullers& direct, std::string_view region, std::span<const NodeRecord> others);

    std::size_t direct_max_;
    std::unordered_map<std::string, Pullers> pullers_;  // by stream: those served here
};

}  // namespace live::engine::cluster
