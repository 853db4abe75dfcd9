#include "engine/cluster/placement.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace live::engine::cluster {
namespace {

NodeRecord node_of(const char* id, const char* region, std::uint64_t load, std::uint64_t capacity = 100) {
    NodeRecord node;
    node.id = id;
    node.region = region;
    node.rtmp_port = 1935;
    node.http_port = 8080;
    node.load = load;
    node.capacity = capacity;
    return node;
}

std::string chosen(const PlacementQuestion& question, std::uint64_t random) {
    const NodeRecord* node = choose_node(question, random);
    return node == nullptr ? "here" : node->id;
}

// Counts the choices over all pairs of random numbers.
std::map<std::string, int> all_choices(const PlacementQuestion& question) {
    std::map<std::string, int> counts;
    const std::uint64_t nodes = question.others.size() + 1;
    for (std::uint64_t random = 0; random < nodes * nodes; ++random)
        ++counts[chosen(question, random)];
    return counts;
}

TEST(Placement, NodeWithStreamKeepsPlayersUntilBusy) {
    const std::vector<NodeRecord> others = {node_of("b", "eu", 0), node_of("c", "eu", 0)};
    NodeRecord self = node_of("a", "eu", 79);
    for (std::uint64_t random = 0; random < 9; ++random)
        EXPECT_EQ(chosen({self, true, nullptr, others}, random), "here");
    self.load = 96;
    EXPECT_EQ(all_choices({self, true, nullptr, others}).count("here"), 0U) << "it is full";
    self.capacity = 0;
    EXPECT_EQ(chosen({self, true, nullptr, others}, 1), "here") << "its capacity is unknown";
}

TEST(Placement, ChoosesLessUsedOfTwo) {
    const std::vector<NodeRecord> others = {node_of("b", "eu", 10), node_of("c", "eu", 600, 1'000), node_of("d", "eu", 70)};
    const auto counts = all_choices({node_of("a", "eu", 50), false, nullptr, others});
    EXPECT_EQ(counts.at("b"), 7) << "if it is one of the two";
    EXPECT_EQ(counts.at("here"), 5);
    EXPECT_EQ(counts.at("c"), 3);
    EXPECT_EQ(counts.at("d"), 1) << "if it is both";
}

TEST(Placement, PrefersOwnRegion) {
    const std::vector<NodeRecord> others = {node_of("b", "us", 0), node_of("c", "eu", 90)};
    auto counts = all_choices({node_of("a", "eu", 96), false, nullptr, others});
    EXPECT_EQ(counts.size(), 1U);
    EXPECT_EQ(counts.begin()->first, "c");
    counts = all_choices({node_of("a", "asia", 96), false, nullptr, others});
    EXPECT_TRUE(counts.count("b") == 1 && counts.count("here") == 0) << "another region is better than a full node";
}

TEST(Placement, ChoosesOwnerWithRoom) {
    std::vector<NodeRecord> others = {node_of("b", "eu", 0), node_of("c", "eu", 49)};
    const NodeRecord self = node_of("a", "eu", 0);
    for (std::uint64_t random = 0; random < 9; ++random)
        EXPECT_EQ(chosen({self, false, &others[1], others}, random), "c");
    others[1].load = 50;
    EXPECT_GT(all_choices({self, false, &others[1], others}).at("here"), 0);
    others[1] = node_of("c", "us", 0);
    EXPECT_EQ(all_choices({self, false, &others[1], others}).count("c"), 0U) << "it is in another region";
}

TEST(Placement, SkipsNodesWithoutPortAndDrainingNodes) {
    std::vector<NodeRecord> others = {node_of("b", "eu", 0), node_of("c", "eu", 0)};
    others[0].http_port = 0;
    others[1].state = NodeRecord::State::draining;
    const PlacementQuestion question{node_of("a", "eu", 60), false, &others[1], others, &NodeRecord::http_port};
    EXPECT_EQ(all_choices(question).size(), 1U);
    EXPECT_EQ(chosen(question, 4), "here");
}

TEST(Placement, DrainingNodeRedirectsPlayersIfPossible) {
    std::vector<NodeRecord> others = {node_of("b", "us", 90)};
    NodeRecord self = node_of("a", "eu", 0);
    self.state = NodeRecord::State::draining;
    for (const bool has_stream : {false, true})
        EXPECT_EQ(chosen({self, has_stream, nullptr, others}, 3), "b");
    others[0].load = 95;
    EXPECT_EQ(chosen({self, true, nullptr, others}, 3), "here") << "the other one is full";
    EXPECT_EQ(chosen({self, true, nullptr, {}}, 3), "here");
}

// The registry may contain anything.
TEST(Placement, SkipsOwnRecordAmongOthers) {
    const std::vector<NodeRecord> others = {node_of("a", "eu", 0)};
    NodeRecord self = node_of("a", "eu", 99);
    EXPECT_EQ(chosen({self, false, &others[0], others}, 1), "here");
}

// Players arrive faster than records are renewed; each node sees the load of the last round.
TEST(Placement, SpreadsCrowd) {
    std::vector<NodeRecord> nodes;
    for (const char* id : {"a", "b", "c", "d", "e", "f", "g", "h"})
        nodes.push_back(node_of(id, "", 0, 1'000));
    std::uint64_t seed = 1;
    std::map<std::string, std::uint64_t> load;
    for (int round = 0; round < 40; ++round) {
        for (int player = 0; player < 100; ++player) {
            seed = seed * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
            const NodeRecord& self = nodes[(seed >> 60) % nodes.size()];
            const NodeRecord* to = choose_node({self, false, nullptr, nodes}, seed >> 20);
            ++load[to == nullptr ? self.id : to->id];
        }
        for (NodeRecord& node : nodes)
            node.load = load[node.id];
    }
    for (const NodeRecord& node : nodes)
        EXPECT_NEAR(static_cast<double>(load[node.id]), 500, 60) << node.id;
}

TEST(Placement, DoesNotSendPublisherToEdge) {
    NodeRecord self;
    self.id = "self";
    self.state = NodeRecord::State::draining;
    NodeRecord edge;
    edge.id = "edge";
    edge.rtmp_port = 1935;
    edge.state = NodeRecord::State::edge;
    NodeRecord origin = edge;
    origin.id = "origin";
    origin.state = NodeRecord::State::up;
    origin.load = 1'000'000;
    const std::vector<NodeRecord> others = {edge, origin};
    for (std::uint64_t random = 0; random < 8; ++random) {
        const auto* to = choose_node({.self = self, .others = others, .is_for_publisher = true}, random);
        ASSERT_NE(to, nullptr);
        EXPECT_EQ(to->id, "origin");
    }
    EXPECT_EQ(choose_node({.self = self, .others = std::span(others).first(1), .is_for_publisher = true}, 0), nullptr);
    EXPECT_NE(choose_node({.self = self, .others = std::span(others).first(1)}, 0), nullptr) << "for a player";
}

}  // namespace
}  // namespace live::engine::cluster
