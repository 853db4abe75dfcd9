#include "service/admission/vhost_policy.hpp"

#include <gtest/gtest.h>

#include "service/admission/vhosts_fixture.hpp"

namespace live::service::admission {
namespace {

using session::ClientKind;

struct VhostPolicyTest : testing::Test {
    FakeVhosts vhosts;
    const VhostPolicy policy{vhosts};
};

TEST_F(VhostPolicyTest, PlansWithTheOptionsOfTheServingVirtualHost) {
    auto& own = vhosts.add("own.example");
    own.rtmp.chunk_size = 4096;
    own.publish.takeover = true;
    own.play.gop_cache = !vhosts.main().play.gop_cache;
    const auto plan = MUST(policy.plan_for(client_of(ClientKind::rtmp_play, "own.example")));
    EXPECT_EQ(plan.url, "own.example/live/cam");
    EXPECT_EQ(plan.vhost, "own.example");
    EXPECT_EQ(plan.chunk_size, 4096U);
    EXPECT_TRUE(plan.publish.takeover);
    EXPECT_EQ(plan.play.gop_cache, own.play.gop_cache);
    EXPECT_EQ(MUST(policy.options_of("own.example")).chunk_size, 4096U);
    EXPECT_EQ(MUST(policy.plan_for(client_of(ClientKind::rtmp_play, "any.example"))).url, "/live/cam");
}

TEST_F(VhostPolicyTest, RefusesClientsWithoutAnEnabledVirtualHost) {
    vhosts.add("off.example").enabled = false;
    const auto off = policy.plan_for(client_of(ClientKind::rtmp_play, "off.example"));
    EXPECT_EQ(off.code(), Errc::denied);
    EXPECT_EQ(off.error().sentence(), "virtual host off.example is switched off");
    EXPECT_EQ(policy.options_of("off.example").code(), Errc::denied);
    vhosts.clear();
    const auto missing = policy.rules_of("x.example");
    EXPECT_EQ(missing.code(), Errc::not_found);
    EXPECT_EQ(missing.error().sentence(), "no virtual host serves x.example");
}

TEST_F(VhostPolicyTest, GuardsPlayersOfADisabledVirtualHostToo) {
    auto& own = vhosts.add("own.example");
    EXPECT_FALSE(policy.guards_play("own.example"));
    own.guards_play = true;
    own.enabled = false;
    EXPECT_TRUE(policy.guards_play("own.example"));
    EXPECT_FALSE(policy.guards_play("any.example"));
    vhosts.clear();
    EXPECT_FALSE(policy.guards_play("own.example"));
}

}  // namespace
}  // namespace live::service::admission
