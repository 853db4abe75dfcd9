#include "service/admission/routing_policy.hpp"

#include "service/admission/admission_fixture.hpp"

namespace live::service::admission {
namespace {

using session::ClientKind;

class RoutingPolicyTest : public AdmissionFixture {
protected:
    using AdmissionFixture::AdmissionFixture;
    session::StreamPlan plan() { return MUST(hosts_.plan_for(player_)); }

    const session::ClientRequest player_ = client_of(ClientKind::rtmp_play);
    const session::ClientRequest publisher_ = client_of(ClientKind::fmle_publish);
    const VhostPolicy hosts_{vhosts_};
    RoutingPolicy policy_{hosts_, routes()};
};

TEST_F(RoutingPolicyTest, ServesEveryClientOnASingleServer) {
    EXPECT_FALSE(policy_.may_pull(player_));
    EXPECT_FALSE(policy_.is_of_cluster(player_.vhost) || policy_.is_of_workers(player_.vhost));
    EXPECT_FALSE(MUST(policy_.redirect_publisher(publisher_)));
    EXPECT_TRUE(policy_.claim(publisher_, plan(), soon()).ok());
    EXPECT_FALSE(MUST(policy_.redirect_player(player_, plan(), soon())));
    EXPECT_FALSE(MUST(policy_.needs_pull(player_, plan(), soon())));
    EXPECT_FALSE(policy_.redirect_puller(player_, plan()));
    EXPECT_FALSE(policy_.send_on(player_));
    EXPECT_TRUE(policy_.fetch(player_, plan(), soon()).ok());
    EXPECT_TRUE(relay_.list().empty());
    EXPECT_TRUE(origins_.asked.empty());
}

TEST_F(RoutingPolicyTest, PullsForPlayersOfAnEdge) {
    vhosts_.main().cluster.mode = relay::ClusterMode::remote;
    EXPECT_TRUE(policy_.may_pull(player_));
    EXPECT_FALSE(MUST(policy_.redirect_player(player_, plan(), soon())));
    EXPECT_TRUE(MUST(policy_.needs_pull(player_, plan(), soon())));
    EXPECT_FALSE(policy_.is_of_cluster(player_.vhost)) << "its origin registers its publishers";
    EXPECT_TRUE(policy_.claim(publisher_, plan(), soon()).ok());
}

TEST_F(RoutingPolicyTest, QueriesTheOtherOriginsOfAnOriginCluster) {
    vhosts_.main().cluster.origin_cluster = true;
    EXPECT_TRUE(policy_.may_pull(player_));
    EXPECT_EQ(policy_.redirect_player(player_, plan(), soon()).code(), Errc::not_found) << "there are no others";
    auto sibling = player_;
    sibling.is_sibling = true;
    EXPECT_TRUE(policy_.redirect_player(sibling, plan(), soon()).ok()) << "its worker has asked";
    vhosts_.main().cluster.mode = relay::ClusterMode::remote;
    EXPECT_TRUE(policy_.redirect_player(player_, plan(), soon()).ok());
}

TEST_F(RoutingPolicyTest, RefusesAfterTheVirtualHostWasRemoved) {
    const auto known = plan();
    vhosts_.main().enabled = false;
    EXPECT_EQ(policy_.claim(publisher_, known, soon()).code(), Errc::denied);
    EXPECT_FALSE(policy_.may_pull(player_));
}

class RoutingPolicyOfANodeTest : public RoutingPolicyTest {
protected:
    RoutingPolicyOfANodeTest() : RoutingPolicyTest(place()) {}

private:
    static Place place() {
        Place made;
        made.registry.registry = "redis://127.0.0.1:1";
        made.registry.publishers = false;
        return made;
    }
};

TEST_F(RoutingPolicyOfANodeTest, RefusesPublishersOnAnEdgeNode) {
    EXPECT_TRUE(policy_.is_of_cluster(player_.vhost));
    EXPECT_TRUE(policy_.may_pull(player_));
    const auto refused = policy_.redirect_publisher(publisher_);
    EXPECT_EQ(refused.code(), Errc::limit);
    EXPECT_EQ(refused.error().sentence(), "this node of the cluster takes no publishers: publish at another one");
    vhosts_.main().cluster.mode = relay::ClusterMode::remote;
    EXPECT_FALSE(policy_.is_of_cluster(player_.vhost));
    EXPECT_FALSE(MUST(policy_.redirect_publisher(publisher_)));
}

TEST_F(RoutingPolicyOfANodeTest, ServesOtherNodesOnlyItsOwnStreams) {
    auto node = player_;
    node.claims = std::make_shared<const session::RelayClaims>(session::RelayClaims{"vid-2", {}, {}});
    const auto refused = policy_.needs_pull(node, plan(), soon());
    EXPECT_EQ(refused.code(), Errc::not_found);
    EXPECT_EQ(refused.error().sentence(), "this node does not have the stream");
    cluster_.on_published(publisher_, plan());
    EXPECT_FALSE(MUST(policy_.needs_pull(node, plan(), soon())));
}

class RoutingPolicyOfAWorkerTest : public RoutingPolicyTest {
protected:
    RoutingPolicyOfAWorkerTest() : RoutingPolicyTest(Place{.is_worker = true}) {}
};

TEST_F(RoutingPolicyOfAWorkerTest, ServesOtherWorkersOnlyItsOwnStreams) {
    EXPECT_TRUE(policy_.is_of_workers(player_.vhost));
    EXPECT_TRUE(policy_.may_pull(player_));
    auto sibling = player_;
    sibling.is_sibling = true;
    const auto refused = policy_.needs_pull(sibling, plan(), soon());
    EXPECT_EQ(refused.code(), Errc::not_found);
    EXPECT_EQ(refused.error().sentence(), "this worker does not have the stream");
    workers_.on_published(publisher_, plan());
    EXPECT_FALSE(MUST(policy_.needs_pull(sibling, plan(), soon())));
    vhosts_.main().cluster.mode = relay::ClusterMode::remote;
    EXPECT_FALSE(policy_.is_of_workers(player_.vhost)) << "workers of an edge ask its origins";
}

}  // namespace
}  // namespace live::service::admission
