#include "service/admission/credential_policy.hpp"

#include "service/admission/admission_fixture.hpp"
#include "service/relay/relay_clock.hpp"

namespace live::service::admission {
namespace {

using relay::RelayedRequest;
using session::ClientKind;

class CredentialPolicyTest : public AdmissionFixture {
protected:
    CredentialPolicyTest() {
        vhosts_.main().cluster.secret = "open-sesame";
        vhosts_.add("protected").cluster.secret = "open-sesame";
    }
    static std::string proof_of(std::string_view vhost) {
        return relay::proof_for({RelayedRequest::Role::play, vhost, "live", "cam", "vid-1"}, "open-sesame");
    }
    static session::ClientRequest relay_with(const std::string& proof, std::string vhost,
                                             ClientKind kind = ClientKind::rtmp_play) {
        auto request = client_of(kind, std::move(vhost));
        request.id = "c" + proof;
        request.claims = std::make_shared<const session::RelayClaims>(session::RelayClaims{"vid-1", proof, {}});
        return request;
    }

    const VhostPolicy hosts_{vhosts_};
    CredentialPolicy policy_{hosts_, tokens_};
};

TEST_F(CredentialPolicyTest, AcceptsAProofForItsVirtualHostOnly) {
    EXPECT_TRUE(policy_.is_trusted_relay(relay_with(proof_of("open"), "open")));
    EXPECT_FALSE(policy_.is_trusted_relay(relay_with(proof_of("open"), "other"))) << "the same one serves it";
    EXPECT_FALSE(policy_.is_trusted_relay(relay_with(proof_of("open"), "protected")));
}

TEST_F(CredentialPolicyTest, RefusesProofsOfEarlierVersions) {
    auto proof = proof_of("open");
    proof.front() = '1';  // that version's covered any virtual host
    EXPECT_FALSE(policy_.is_trusted_relay(relay_with(proof, "open")));
}

TEST_F(CredentialPolicyTest, NeedsASecretAndAProofAndAPath) {
    EXPECT_FALSE(policy_.is_trusted_relay(client_of(ClientKind::rtmp_play, "open")));
    EXPECT_FALSE(policy_.is_trusted_relay(relay_with("", "open")));
    vhosts_.main().cluster.secret.clear();
    EXPECT_FALSE(policy_.is_trusted_relay(relay_with(proof_of("open"), "open")));
}

TEST_F(CredentialPolicyTest, AcceptsAProofOncePerConnection) {
    const auto relay = relay_with(proof_of("open"), "open");
    EXPECT_TRUE(policy_.is_trusted_relay(relay));
    EXPECT_TRUE(policy_.is_trusted_relay(relay)) << "another session of the connection";
    EXPECT_TRUE(policy_.forget(relay));
    EXPECT_FALSE(policy_.forget(relay));
    EXPECT_FALSE(policy_.is_trusted_relay(relay)) << "the proof has been used";
    const auto http = relay_with(proof_of("open"), "open", ClientKind::flv_play);
    EXPECT_TRUE(policy_.is_trusted_relay(http));
    EXPECT_FALSE(policy_.forget(http)) << "a request is not a connection";
}

TEST_F(CredentialPolicyTest, ChecksTokensAtOriginsOnEdgesOnly) {
    const auto player = client_of(ClientKind::rtmp_play);
    const auto plan = MUST(hosts_.plan_for(player));
    auto& options = vhosts_.main().cluster;
    options.token_traverse = true;
    EXPECT_TRUE(policy_.check_token(player, plan, soon()).ok());
    options.token_traverse = false;
    options.mode = relay::ClusterMode::remote;
    EXPECT_TRUE(policy_.check_token(player, plan, soon()).ok());
    EXPECT_TRUE(origins_.asked.empty());
    options.token_traverse = true;
    const auto refused = policy_.check_token(player, plan, soon());
    EXPECT_EQ(refused.code(), Errc::denied);
    EXPECT_EQ(refused.error().sentence(), "no origin has answered for the client (3067)");
    EXPECT_EQ(origins_.asked, std::vector<std::string>{"/live/cam"});
}

}  // namespace
}  // namespace live::service::admission
