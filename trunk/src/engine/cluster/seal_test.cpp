#include "engine/cluster/seal.hpp"

#include <gtest/gtest.h>

namespace live::engine::cluster {
namespace {

constexpr std::int64_t kWall = 1'790'000'000'000;
constexpr std::int64_t kWindow = Seal::kWindow.count();

NodeRecord node() { return {"a", 7, "192.0.2.1", 1935, 8080, 1985, "eu", NodeRecord::State::up, 100, 10, "1.0"}; }

TEST(ClusterSeal, AcceptsSignedRecords) {
    const Seal seal("hush");
    NodeRecord one = node();
    seal.put_on(one, kWall);
    EXPECT_EQ(one.mac.size(), kMacBytes);
    EXPECT_TRUE(seal.is_good(MUST(parse_node("a", text_of(one))), kWall));
    OwnRecord own{"a", 7, 1, 5};
    seal.put_on(own, "/live/cam");
    EXPECT_TRUE(seal.is_good(MUST(parse_own(text_of(own))), "/live/cam"));
    own.epoch = 9;
    EXPECT_FALSE(seal.is_good(own, "/live/cam")) << "another publisher's";
    // Before the registry has counted an epoch, and after.
    OwnRecord claim{"a", 7, 0, kWall};
    seal.put_on(claim, "/live/cam");
    claim.epoch = 9;
    EXPECT_FALSE(seal.is_good(claim, "/live/cam"));
    EXPECT_TRUE(seal.is_good_claim(claim, "/live/cam", kWall));
    EXPECT_FALSE(seal.is_good_claim(own, "/live/cam", kWall));
    Event event{Event::Kind::drain, "a", 7, 0, {}};
    seal.put_on(event);
    EXPECT_TRUE(seal.is_good(MUST(parse_event(text_of(event)))));
}

TEST(ClusterSeal, RefusesChangedRecords) {
    const Seal seal("hush");
    NodeRecord signed_node = node();
    seal.put_on(signed_node, kWall);
    EXPECT_FALSE(seal.is_good(node(), kWall)) << "not signed";
    EXPECT_FALSE(Seal("another").is_good(signed_node, kWall));
    NodeRecord other = signed_node;
    other.host = "198.51.100.1";
    EXPECT_FALSE(seal.is_good(other, kWall));
    other = signed_node;
    other.id = "b";
    EXPECT_FALSE(seal.is_good(other, kWall)) << "another node's record under this name";
    other = signed_node;
    other.state = NodeRecord::State::draining;
    EXPECT_FALSE(seal.is_good(other, kWall));
    OwnRecord own{"a", 7, 1, 5};
    seal.put_on(own, "/live/cam");
    EXPECT_FALSE(seal.is_good(own, "/live/other")) << "another stream's owner";
    own.run = 8;
    EXPECT_FALSE(seal.is_good(own, "/live/cam"));
    // A signature is valid for one kind of record.
    Event event{Event::Kind::kick, "a", 7, 1, "/live/cam"};
    event.mac = signed_node.mac;
    EXPECT_FALSE(seal.is_good(event));
}

TEST(ClusterSeal, SignaturesExpire) {
    const Seal seal("hush");
    NodeRecord one = node();
    seal.put_on(one, kWall);
    OwnRecord claim{"a", 7, 0, kWall};
    seal.put_on(claim, "s");
    for (const std::int64_t apart : {-kWindow, std::int64_t{0}, kWindow}) {
        EXPECT_TRUE(seal.is_good(one, kWall + apart)) << apart;
        EXPECT_TRUE(seal.is_good_claim(claim, "s", kWall + apart)) << apart;
    }
    for (const std::int64_t apart : {-kWindow - 1, kWindow + 1}) {
        EXPECT_FALSE(seal.is_good(one, kWall + apart)) << apart;
        EXPECT_FALSE(seal.is_good_claim(claim, "s", kWall + apart)) << apart;
    }
    one.at += 1;
    EXPECT_FALSE(seal.is_good(one, kWall)) << "the time is signed";
}

// Signatures of another implementation, with the secret "hush".
TEST(ClusterSeal, MatchesVectors) {
    const Seal seal("hush");
    NodeRecord one = node();
    seal.put_on(one, kWall);
    EXPECT_EQ(text_of(one), "7|192.0.2.1|1935|8080|1985|eu|up|100|10|1.0|1790000000000|cb2774380ecbe3692e8b3489fd56d0c0");
    OwnRecord own{"a", 7, 3, kWall};
    seal.put_on(own, "/live/cam");
    EXPECT_EQ(text_of(own), "a|7|3|1790000000000|c5efa025663f5055d854e7d9113939e1");
    Event event{Event::Kind::drain, "a", 7, 0, {}};
    seal.put_on(event);
    EXPECT_EQ(text_of(event), "drain:b5d86d711dbe8b678a9d3b6191243e30|a|7|0|");
}

TEST(ClusterSeal, AcceptsAllRecordsWithoutSecret) {
    const Seal seal("");
    NodeRecord one = node();
    seal.put_on(one, kWall);
    EXPECT_TRUE(one.mac.empty() && seal.is_good(one, kWall));
    EXPECT_TRUE(seal.is_good(OwnRecord{"a", 7, 1, 5}, "s"));
    // Including records that nodes with a secret have signed.
    Seal("hush").put_on(one, kWall);
    EXPECT_TRUE(seal.is_good(one, kWall));
}

}  // namespace
}  // namespace live::engine::cluster
