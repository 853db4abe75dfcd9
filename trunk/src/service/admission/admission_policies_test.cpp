#include "service/admission/admission_policies.hpp"

#include "service/admission/admission_fixture.hpp"
#include "service/relay/relay_clock.hpp"

namespace live::service::admission {
namespace {

using namespace std::chrono_literals;

using session::ClientKind;
using Names = std::vector<std::string>;

struct NoGroups final : session::AddressGroups {
    std::optional<IpAddress> group_of(std::string_view) const override { return std::nullopt; }
};

class AdmissionPoliciesTest : public AdmissionFixture {
protected:
    AdmissionPoliciesTest() { main().http_hooks.enabled = true; }

    FakeVhosts::Vhost& main() { return vhosts_.main(); }
    Result<session::StreamPlan> publish(const session::ClientRequest& request) {
        return admission_.serve_publish(request, soon());
    }
    Result<session::Served> play(const session::ClientRequest& request) { return admission_.play(request, soon()).served(); }

    const session::ClientRequest player_ = client_of(ClientKind::rtmp_play);
    const session::ClientRequest publisher_ = client_of(ClientKind::fmle_publish);
    NoGroups groups_;
    session::MemoryBudget memory_{groups_};
    tokens::KeyRing keys_;
    tokens::KeySetService key_sets_{http_, [] { return std::vector<std::string>(); }, log_};
    users::UserService users_{[] { return std::vector<users::UserOptions>(); }, log_};
    AdmissionPolicies admission_{{vhosts_, memory_, streams_, hooks_, tokens_, keys_, key_sets_, users_, routes()}};
};

TEST_F(AdmissionPoliciesTest, AdmitsAfterAllPolicies) {
    EXPECT_EQ(MUST(publish(publisher_)).url, "/live/cam");
    EXPECT_EQ(callbacks(), (Names{"on_connect", "on_publish"}));
    EXPECT_EQ(std::get<session::StreamPlan>(MUST(play(player_))).url, "/live/cam");
    EXPECT_EQ(callbacks(), (Names{"on_connect", "on_publish", "on_connect", "on_play"}));
    admission_.report_closed(player_, {});
    EXPECT_EQ(callbacks().back(), "on_close");
}

TEST_F(AdmissionPoliciesTest, RefusesWithoutMemoryOrAVirtualHost) {
    memory_.set_max(1'000);
    memory_.set_streams(701, 0);
    EXPECT_EQ(publish(publisher_).code(), Errc::limit);
    EXPECT_TRUE(play(client_of(ClientKind::hls_play)).ok()) << "players are admitted";
    main().enabled = false;
    EXPECT_EQ(publish(publisher_).code(), Errc::limit);
    memory_.set_streams(0, 701);
    EXPECT_EQ(publish(publisher_).code(), Errc::denied);
    EXPECT_EQ(play(player_).code(), Errc::denied);
    EXPECT_EQ(callbacks(), Names{"on_play"});
}

TEST_F(AdmissionPoliciesTest, ChecksThePageBeforeOnConnect) {
    main().refer = {.enabled = true, .all = {"a.example"}, .publish = {}, .play = {}};
    EXPECT_EQ(publish(publisher_).code(), Errc::denied);
    EXPECT_EQ(play(player_).code(), Errc::denied);
    EXPECT_EQ(callbacks(), Names());
}

TEST_F(AdmissionPoliciesTest, ChecksAddressTokenAndPublishersPageBetweenTheCallbacks) {
    main().security = {.enabled = true, .allow = {}, .deny = {{"publish", "all"}, {"play", "all"}}};
    EXPECT_EQ(publish(publisher_).code(), Errc::denied);
    EXPECT_EQ(play(player_).code(), Errc::denied);
    EXPECT_EQ(callbacks(), Names(2, "on_connect"));
    main().security = {};
    main().cluster.mode = relay::ClusterMode::remote;
    main().cluster.token_traverse = true;
    EXPECT_EQ(play(player_).error().sentence(), "no origin has answered for the client (3067)");
    EXPECT_EQ(callbacks(), Names(3, "on_connect"));
    main().cluster = {};
    main().refer = {.enabled = true, .all = {}, .publish = {"a.example"}, .play = {}};
    EXPECT_EQ(publish(publisher_).code(), Errc::denied);
    EXPECT_EQ(callbacks(), Names(4, "on_connect"));
}

TEST_F(AdmissionPoliciesTest, ReportsAPlayerThatIsRefusedAfterOnPlay) {
    main().refer = {.enabled = true, .all = {}, .publish = {}, .play = {"a.example"}};
    EXPECT_EQ(play(player_).error().sentence(), "clients from your page are not permitted (2015)");
    EXPECT_EQ(callbacks(), (Names{"on_connect", "on_play", "on_stop"}));
}

TEST_F(AdmissionPoliciesTest, RedirectsAPlayerBeforeOnPlay) {
    main().cluster.origin_cluster = true;
    EXPECT_EQ(play(player_).code(), Errc::not_found) << "no other origin has the stream";
    EXPECT_EQ(callbacks(), Names{"on_connect"});
}

TEST_F(AdmissionPoliciesTest, PullsAfterOnPlay) {
    main().cluster.mode = relay::ClusterMode::remote;
    EXPECT_EQ(admission_.play(player_, soon()).kind(), session::Answer::Kind::pull);
    EXPECT_EQ(callbacks(), (Names{"on_connect", "on_play"}));
    EXPECT_TRUE(admission_.may_pull(player_));
}

TEST_F(AdmissionPoliciesTest, RefusesWhenACallbackRefuses) {
    fake_hooks_.answers["/clients"] = "1";
    EXPECT_EQ(publish(publisher_).code(), Errc::denied);
    EXPECT_EQ(callbacks(), Names{"on_connect"});
    fake_hooks_.answers.clear();
    fake_hooks_.answers["/publishers"] = fake_hooks_.answers["/players"] = "1";
    EXPECT_EQ(publish(publisher_).code(), Errc::denied);
    EXPECT_EQ(play(player_).code(), Errc::denied);
    EXPECT_EQ(callbacks(), (Names{"on_connect", "on_connect", "on_publish", "on_connect", "on_play"}));
}

TEST_F(AdmissionPoliciesTest, MakesNoCallbacksForTrustedRelays) {
    main().cluster.secret = "open-sesame";
    auto relay = player_;
    const auto proof = relay::proof_for({relay::RelayedRequest::Role::play, relay.vhost, "live", "cam", "vid-1"}, "open-sesame");
    relay.claims = std::make_shared<const session::RelayClaims>(session::RelayClaims{"vid-1", proof, {}});
    EXPECT_TRUE(std::get<session::StreamPlan>(MUST(play(relay))).is_trusted_relay);
    admission_.report_closed(relay, {});
    EXPECT_EQ(callbacks(), Names());
    admission_.report_closed(relay, {});
    EXPECT_EQ(callbacks(), Names{"on_close"}) << "its proof was for one connection";
}

TEST_F(AdmissionPoliciesTest, ServesAnotherWorkerTheStreamThatItsClientIsAdmittedTo) {
    vhosts_.add("protected");
    const auto play_url = [&](const std::string& vhost, std::string url) {
        auto request = client_of(ClientKind::rtmp_play, vhost);
        session::RelayClaims claims{.path = "vid-1", .proof = {}, .connect_arguments = {}};
        claims.url = std::move(url);
        request.claims = std::make_shared<const session::RelayClaims>(std::move(claims));
        request.is_sibling = true;
        return play(request);
    };
    const std::string main_name = main().name;
    EXPECT_TRUE(play_url(main_name, "/live/cam").ok());
    EXPECT_EQ(play_url("protected", "/live/cam").code(), Errc::denied);
    EXPECT_TRUE(play_url("protected", "protected/live/cam").ok());
    EXPECT_EQ(play_url(main_name, "/live/cam2").code(), Errc::denied);
    EXPECT_TRUE(play_url(main_name, "").ok()) << "a worker of an older program";
    auto sibling = player_;
    sibling.is_sibling = true;
    admission_.report_closed(sibling, {});
    EXPECT_EQ(callbacks(), Names());
}

TEST_F(AdmissionPoliciesTest, ChecksARequestForHeadersByRulesOnly) {
    EXPECT_TRUE(admission_.check_play(player_).ok());
    main().security = {.enabled = true, .allow = {}, .deny = {{"play", "all"}}};
    EXPECT_EQ(admission_.check_play(player_).code(), Errc::denied);
    main().security = {};
    main().refer = {.enabled = true, .all = {}, .publish = {}, .play = {"a.example"}};
    EXPECT_EQ(admission_.check_play(player_).code(), Errc::denied);
    EXPECT_TRUE(admission_.check_play(client_of(ClientKind::flv_play)).ok());
    EXPECT_EQ(callbacks(), Names());
    EXPECT_FALSE(admission_.guards_play(player_));
    main().guards_play = true;
    EXPECT_TRUE(admission_.guards_play(player_));
}

TEST_F(AdmissionPoliciesTest, FetchesWithoutPolicies) {
    main().security = {.enabled = true, .allow = {}, .deny = {{"play", "all"}}};
    EXPECT_TRUE(admission_.fetch(player_, soon()).ok()) << "there is nothing to wait for";
    main().enabled = false;
    EXPECT_EQ(admission_.fetch(player_, soon()).code(), Errc::denied);
    EXPECT_EQ(callbacks(), Names());
}

TEST_F(AdmissionPoliciesTest, GivesASessionTheExpiryOfItsToken) {
    const auto key = MUST(engine::crypto::SigningKey::parse(std::string(32, 'k')));
    keys_.replace({{"a.key", key}});
    main().access.enabled = true;
    main().access.key_files = {"a.key"};
    EXPECT_EQ(play(player_).code(), Errc::denied);
    EXPECT_EQ(admission_.check_play(player_).code(), Errc::denied);
    tokens::TokenRequest request{.rights = {}, .expires = tokens::unix_now() + 1h, .now = tokens::unix_now()};
    request.rights.push_back({tokens::Permission::play, MUST(tokens::PathPattern::parse("live/*"))});
    auto with_token = player_;
    with_token.param = "?token=" + MUST(tokens::make_jwt(request, key));
    const auto served = MUST(play(with_token));
    EXPECT_EQ(std::get<session::StreamPlan>(served).ends_at, request.expires);
    EXPECT_TRUE(admission_.check_play(with_token).ok());
    auto sibling = player_;
    sibling.is_sibling = true;
    EXPECT_TRUE(play(sibling).ok()) << "the other worker has checked the token";
}

}  // namespace
}  // namespace live::service::admission
