// PullerTree: the nodes that pull the streams of this one. A popular stream is not sent to all nodes from here: above kDirectMax,
// a node is sent to one that has it already. Depth 2 serves kDirectMax² nodes. Only nodes that are served here are named, and
// none of those is sent to another one, so no circle can form. Pure.
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
    // Nodes that a stream is sent to from here.
    static constexpr std::size_t kDirectMax = 64;

    explicit PullerTree(std::size_t direct_max = kDirectMax) : direct_max_(direct_max) {}

    // `node` requests a stream that is published here, over the connection `client`. nullptr: it is served here, until leave().
    // Otherwise it must pull from the returned node: among those served here that take clients, those in its region first, the
    // one that has been named least. If `others`, the listed nodes, has no such node, it is served here in excess of the maximum.
    // An unlisted node counts like any other, but is not named.
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
