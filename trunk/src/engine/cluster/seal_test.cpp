#include "engine/cluster/seal.hpp"

#include <gtest/gtest.h>

namespace live::engine::cluster {
namespace {

NodeRecord node() { return {"a", 7, "192.0.2.1", 1935, 8080, 1985, "eu", NodeRecord::State::up, 100, 10, "1.0"}; }

TEST(ClusterSeal, WhatIsSignedIsGoodAsItIs) {
    const Seal seal("hush");
    NodeRecord one = node();
    seal.put_on(one);
    EXPECT_EQ(one.mac.size(), kMacBytes);
    EXPECT_TRUE(seal.is_good(MUST(parse_node("a", text_of(one)))));
    OwnRecord own{"a", 7, 1, 5};
    seal.put_on(own, "/live/cam");
    EXPECT_TRUE(seal.is_good(MUST(parse_own(text_of(own))), "/live/cam"));
    own.epoch = 9;
    EXPECT_TRUE(seal.is_good(own, "/live/cam")) << "the registry counts";
    Event event{Event::Kind::drain, "a", 7, 0, {}};
    seal.put_on(event);
    EXPECT_TRUE(seal.is_good(MUST(parse_event(text_of(event)))));
}

TEST(ClusterSeal, NothingElseIs) {
    const Seal seal("hush");
    NodeRecord signed_node = node();
    seal.put_on(signed_node);
    EXPECT_FALSE(seal.is_good(node())) << "not signed";
    EXPECT_FALSE(Seal("another").is_good(signed_node));
    NodeRecord other = signed_node;
    other.host = "198.51.100.1";
    EXPECT_FALSE(seal.is_good(other));
    other = signed_node;
    other.id = "b";
    EXPECT_FALSE(seal.is_good(other)) << "another node's record under this name";
    other = signed_node;
    other.state = NodeRecord::State::draining;
    EXPECT_FALSE(seal.is_good(other));
    OwnRecord own{"a", 7, 1, 5};
    seal.put_on(own, "/live/cam");
    EXPECT_FALSE(seal.is_good(own, "/live/other")) << "another stream's owner";
    own.run = 8;
    EXPECT_FALSE(seal.is_good(own, "/live/cam"));
    // One kind of record is no other.
    Event event{Event::Kind::kick, "a", 7, 1, "/live/cam"};
    event.mac = signed_node.mac;
    EXPECT_FALSE(seal.is_good(event));
}

TEST(ClusterSeal, WithoutASecretEverythingIsGood) {
    const Seal seal("");
    NodeRecord one = node();
    seal.put_on(one);
    EXPECT_TRUE(one.mac.empty() && seal.is_good(one));
    EXPECT_TRUE(seal.is_good(OwnRecord{"a", 7, 1, 5}, "s"));
    // Also what nodes with one have signed.
    Seal("hush").put_on(one);
    EXPECT_TRUE(seal.is_good(one));
}

}  // namespace
}  // namespace live::engine::cluster
