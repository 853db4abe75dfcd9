#include "service/admission/address_policy.hpp"

#include <gtest/gtest.h>

#include "service/admission/vhosts_fixture.hpp"

namespace live::service::admission {
namespace {

using access::Role;
using session::ClientKind;

TEST(AddressPolicy, ChecksTheConnectionsAddressAgainstTheRulesOfTheVirtualHost) {
    FakeVhosts vhosts;
    const VhostPolicy hosts(vhosts);
    const AddressPolicy policy(hosts);
    auto& own = vhosts.add("own.example");
    own.security = {.enabled = true, .allow = {{"play", "all"}, {"publish", "10.0.0.7"}}, .deny = {}};
    auto client = client_of(ClientKind::srt_publish, "own.example");
    EXPECT_TRUE(policy.check(client, Role::publish).ok());
    client.ip = "10.0.0.7";
    client.peer_ip = "10.0.0.8";
    EXPECT_EQ(policy.check(client, Role::publish).code(), Errc::denied) << "a proxy's header does not count";
    EXPECT_TRUE(policy.check(client, Role::play).ok());
    client.vhost = "any.example";
    EXPECT_TRUE(policy.check(client, Role::publish).ok()) << "another virtual host";
    own.enabled = false;
    client.vhost = "own.example";
    EXPECT_EQ(policy.check(client, Role::play).error().sentence(), "virtual host own.example is switched off");
}

}  // namespace
}  // namespace live::service::admission
