#include "service/admission/callback_policy.hpp"

#include "service/admission/admission_fixture.hpp"

namespace live::service::admission {
namespace {

using hooks::Action;
using session::ClientKind;
using Names = std::vector<std::string>;

class CallbackPolicyTest : public AdmissionFixture {
protected:
    CallbackPolicyTest() { vhosts_.main().http_hooks.enabled = true; }
    hooks::Subject subject(ClientKind kind) {
        auto request = client_of(kind);
        auto plan = MUST(hosts_.plan_for(request));
        return {std::move(request), plan.vhost, plan.url};
    }
    session::StreamPlan plan() { return MUST(hosts_.plan_for(client_of(ClientKind::rtmp_play))); }

    const VhostPolicy hosts_{vhosts_};
    CallbackPolicy policy_{hosts_, vhosts_, hooks_};
};

TEST_F(CallbackPolicyTest, CallsOnConnectForProtocolsThatConnectFirst) {
    for (const auto kind : {ClientKind::flv_play, ClientKind::hls_play, ClientKind::rtc_play, ClientKind::rtc_publish})
        EXPECT_TRUE(policy_.ask_connect(subject(kind), soon()).ok());
    EXPECT_EQ(callbacks(), Names());
    for (const auto kind : {ClientKind::rtmp_play, ClientKind::fmle_publish, ClientKind::srt_play, ClientKind::srt_publish})
        EXPECT_TRUE(policy_.ask_connect(subject(kind), soon()).ok());
    EXPECT_EQ(callbacks(), Names(4, "on_connect"));
    fake_hooks_.answers["/clients"] = "7";
    EXPECT_EQ(policy_.ask_connect(subject(ClientKind::rtmp_play), soon()).code(), Errc::denied);
}

TEST_F(CallbackPolicyTest, WritesTheResponsesToThePlan) {
    fake_hooks_.answers["/publishers"] = R"({"code": 0, "data": {"srt_passphrase": "ten letters"}})";
    fake_hooks_.answers["/players"] = R"({"code": 0, "data": {"srt_passphrase": "other letters"}})";
    fake_hooks_.answers["/forward"] = R"({"code": 0, "data": {"urls": ["rtmp://a/live/cam"]}})";
    vhosts_.main().forward.enabled = true;
    vhosts_.main().forward.backend = fake_hooks_.url("/forward");
    auto published = plan();
    EXPECT_TRUE(policy_.ask_publish(subject(ClientKind::srt_publish), published, soon()).ok());
    EXPECT_EQ(published.srt_passphrase, "ten letters");
    EXPECT_EQ(published.forward_urls, std::vector<std::string>{"rtmp://a/live/cam"});
    auto played = plan();
    EXPECT_TRUE(policy_.ask_play(subject(ClientKind::srt_play), played, soon()).ok());
    EXPECT_EQ(played.srt_passphrase, "other letters");
    EXPECT_FALSE(played.forward_urls);
    EXPECT_EQ(callbacks(), (Names{"on_publish", "on_forward", "on_play"}));
}

TEST_F(CallbackPolicyTest, CallsOnlyForwardBackendsForTrustedRelays) {
    fake_hooks_.answers["/forward"] = R"({"code": 0, "data": {"urls": []}})";
    vhosts_.main().forward.enabled = true;
    vhosts_.main().forward.backend = fake_hooks_.url("/forward");
    auto trusted = plan();
    trusted.is_trusted_relay = true;
    EXPECT_TRUE(policy_.ask_publish(subject(ClientKind::fmle_publish), trusted, soon()).ok());
    EXPECT_TRUE(policy_.ask_play(subject(ClientKind::rtmp_play), trusted, soon()).ok());
    policy_.report_stream(Action::on_stop, client_of(ClientKind::rtmp_play), trusted);
    EXPECT_EQ(callbacks(), Names{"on_forward"});
}

TEST_F(CallbackPolicyTest, RefusesAfterTheVirtualHostWasRemoved) {
    auto published = plan();
    const auto asked = subject(ClientKind::fmle_publish);
    vhosts_.main().enabled = false;
    EXPECT_EQ(policy_.ask_publish(asked, published, soon()).error().sentence(), "virtual host __defaultVhost__ is switched off");
    EXPECT_EQ(callbacks(), Names());
}

TEST_F(CallbackPolicyTest, ReportsEndsToTheServiceOfTheVirtualHost) {
    vhosts_.main().http_hooks.on_dvr = {fake_hooks_.url("/files")};
    const auto request = client_of(ClientKind::rtmp_play);
    policy_.report_stream(Action::on_stop, request, plan());
    policy_.report_recording(request, plan(), "a.flv", "");
    policy_.report_closed(request, {});
    EXPECT_EQ(callbacks(), (Names{"on_stop", "on_dvr", "on_close"}));
    auto gone = plan();
    gone.vhost = "gone.example";  // another one serves the name now
    policy_.report_stream(Action::on_stop, request, gone);
    policy_.report_recording(request, gone, "a.flv", "");
    EXPECT_EQ(callbacks().size(), 3U);
    vhosts_.clear();
    policy_.report_closed(request, {});
    EXPECT_EQ(callbacks().size(), 3U);
}

}  // namespace
}  // namespace live::service::admission
