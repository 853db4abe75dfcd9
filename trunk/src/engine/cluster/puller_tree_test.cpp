#include "engine/cluster/puller_tree.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace live::engine::cluster {
namespace {

const std::string kStream = "/live/hot";

std::vector<NodeRecord> make_nodes(std::size_t count) {
    std::vector<NodeRecord> nodes(count);
    for (std::size_t i = 0; i < count; ++i) {
        nodes[i].id = "n" + std::to_string(i);
        nodes[i].host = "192.0.2.1";
        nodes[i].rtmp_port = 1935;
    }
    return nodes;
}

TEST(PullerTree, ServesSixtyFourAndRedirectsTheNext) {
    const auto nodes = make_nodes(66);
    PullerTree tree;
    for (std::size_t i = 0; i < PullerTree::kDirectMax; ++i)
        EXPECT_EQ(tree.enter(kStream, nodes[i].id, "c" + std::to_string(i), nodes), nullptr);
    EXPECT_EQ(tree.direct(kStream), PullerTree::kDirectMax);
    const NodeRecord* first = tree.enter(kStream, "n64", "c64", nodes);
    const NodeRecord* second = tree.enter(kStream, "n65", "c65", nodes);
    ASSERT_TRUE(first != nullptr && second != nullptr);
    EXPECT_NE(first->id, second->id) << "in turn";
    EXPECT_EQ(tree.direct(kStream), PullerTree::kDirectMax);
    EXPECT_EQ(tree.enter("/live/cold", "n64", "c66", nodes), nullptr) << "of another stream";
    tree.leave(kStream, "c7");
    EXPECT_EQ(tree.enter(kStream, "n64", "c67", nodes), nullptr) << "a place is free";
    EXPECT_NE(tree.enter(kStream, "n7", "c68", nodes), nullptr);
}

TEST(PullerTree, ReconnectingNodeKeepsPlace) {
    const auto nodes = make_nodes(65);
    PullerTree tree;
    for (std::size_t i = 0; i < PullerTree::kDirectMax; ++i)
        tree.enter(kStream, nodes[i].id, "c" + std::to_string(i), nodes);
    EXPECT_EQ(tree.enter(kStream, "n3", "again", nodes), nullptr);
    tree.leave(kStream, "c3");
    EXPECT_EQ(tree.direct(kStream), PullerTree::kDirectMax) << "its newest connection counts";
    tree.leave(kStream, "again");
    EXPECT_EQ(tree.direct(kStream), PullerTree::kDirectMax - 1);
}

TEST(PullerTree, RedirectsToNodesThatTakeClientsOwnRegionFirst) {
    auto nodes = make_nodes(66);
    for (NodeRecord& node : nodes)
        node.state = NodeRecord::State::draining;
    PullerTree tree;
    for (std::size_t i = 0; i < PullerTree::kDirectMax; ++i)
        tree.enter(kStream, nodes[i].id, "c" + std::to_string(i), nodes);
    EXPECT_EQ(tree.enter(kStream, "n64", "c64", nodes), nullptr) << "no target: in excess";
    tree.leave(kStream, "c64");
    nodes[4].state = nodes[5].state = nodes[6].state = NodeRecord::State::edge;
    nodes[5].region = nodes[64].region = "eu";
    nodes[6].region = "eu";
    nodes[6].capacity = 100;
    nodes[6].load = 99;
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(tree.enter(kStream, "n64", "x", nodes)->id, "n5");
    EXPECT_EQ(tree.enter(kStream, "n65", "y", nodes)->id, "n4") << "in its own region; n6 is full";
    nodes.erase(nodes.begin() + 5);
    EXPECT_EQ(tree.enter(kStream, "n64", "x", nodes)->id, "n4") << "the lease of n5 has ended";
}

// After a network failure, many nodes reconnect before they are listed again.
TEST(PullerTree, UnlistedNodesCountButAreNoTargets) {
    const auto nodes = make_nodes(1);
    PullerTree tree;
    EXPECT_EQ(tree.enter(kStream, "n0", "c0", nodes), nullptr);
    for (std::size_t i = 1; i < PullerTree::kDirectMax; ++i)
        EXPECT_EQ(tree.enter(kStream, "x" + std::to_string(i), "c" + std::to_string(i), nodes), nullptr);
    EXPECT_EQ(tree.direct(kStream), PullerTree::kDirectMax);
    const NodeRecord* other = tree.enter(kStream, "late", "c64", nodes);
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->id, "n0");
    EXPECT_EQ(tree.enter(kStream, "x7", "again", nodes), nullptr);
    tree.leave(kStream, "c3");
    EXPECT_EQ(tree.enter(kStream, "late", "c65", nodes), nullptr);
}

// 64² nodes: one after the other leaves and returns, with all nodes that it serves.
TEST(PullerTree, DepthTwoServesSquareOfLimit) {
    constexpr std::size_t kNodes = PullerTree::kDirectMax * (PullerTree::kDirectMax + 1);
    const auto nodes = make_nodes(kNodes);
    PullerTree tree;
    std::mt19937_64 random(1);
    std::map<std::string, std::string> parents;  // empty: here
    std::uint64_t clients = 0;
    std::map<std::string, std::string> connections;
    std::map<std::string, std::size_t> children;
    const auto ask = [&](const std::string& node) {
        connections[node] = "c" + std::to_string(++clients);
        const NodeRecord* parent = tree.enter(kStream, node, connections[node], nodes);
        parents[node] = parent == nullptr ? "" : parent->id;
        if (parent != nullptr) {
            ASSERT_EQ(parents[parent->id], "") << parent->id << " is served by another node";
            ASSERT_NE(parent->id, node);
            ++children[parent->id];
        }
    };
    for (const NodeRecord& node : nodes)
        ask(node.id);
    EXPECT_EQ(tree.direct(kStream), PullerTree::kDirectMax);
    EXPECT_EQ(children.size(), PullerTree::kDirectMax);
    for (const auto& [node, count] : children)
        EXPECT_EQ(count, PullerTree::kDirectMax) << node;
    for (int turn = 0; turn < 20; ++turn) {
        const std::string gone = nodes[random() % kNodes].id;
        std::vector<std::string> orphans;
        for (const auto& [node, parent] : parents)
            if (parent == gone)
                orphans.push_back(node);
        if (parents[gone].empty())
            tree.leave(kStream, connections[gone]);
        parents[gone] = "away";
        for (const std::string& node : orphans)
            ask(node);
        ask(gone);
        ASSERT_EQ(tree.direct(kStream), PullerTree::kDirectMax);
    }
}

}  // namespace
}  // namespace live::engine::cluster
