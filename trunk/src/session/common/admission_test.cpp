#include "session/common/admission.hpp"

#include <gtest/gtest.h>

namespace live::session {
namespace {

TEST(Answer, ServesWithAPlan) {
    StreamPlan plan;
    plan.url = "/live/cam";
    Answer answer = plan;
    EXPECT_EQ(answer.kind(), Answer::Kind::serve);
    EXPECT_EQ(std::get<StreamPlan>(MUST(std::move(answer).served())).url, "/live/cam");
}

TEST(Answer, RefusesWithAReason) {
    Answer answer = Error(Errc::denied, "not today");
    EXPECT_EQ(answer.kind(), Answer::Kind::refuse);
    const auto served = std::move(answer).served();
    EXPECT_EQ(served.code(), Errc::denied);
    EXPECT_EQ(served.error().sentence(), "not today");
}

TEST(Answer, SendsAPlayerToAnotherServer) {
    Answer answer = Redirect{"192.0.2.1:1935"};
    EXPECT_EQ(answer.kind(), Answer::Kind::redirect);
    EXPECT_EQ(std::get<Redirect>(MUST(std::move(answer).served())).rtmp, "192.0.2.1:1935");
}

// Redirects every client.
class ElsewhereAdmission final : public Admission {
public:
    Answer publish(const ClientRequest&, io::Deadline) override { return Redirect{"192.0.2.1:1935"}; }
    Answer play(const ClientRequest&, io::Deadline) override { return Redirect{"192.0.2.1:1935"}; }
    Result<void> check_play(const ClientRequest&) const override { return {}; }
};

TEST(Admission, RedirectsPlayersOnly) {
    ElsewhereAdmission admission;
    EXPECT_TRUE(std::holds_alternative<Redirect>(MUST(admission.serve_play({}, io::Deadline::never()))));
    EXPECT_EQ(admission.serve_publish({}, io::Deadline::never()).code(), Errc::denied);
}

// Another server has every stream.
class PullingAdmission final : public Admission {
public:
    Answer publish(const ClientRequest& request, io::Deadline) override { return play(request, io::Deadline::never()); }
    Answer play(const ClientRequest&, io::Deadline) override {
        StreamPlan plan;
        plan.url = "/live/cam";
        return Answer::Pull{plan};
    }
    Result<void> pull(const ClientRequest& request, const StreamPlan& plan, io::Deadline deadline) override {
        ++pulls;
        return there ? Result<void>() : Admission::pull(request, plan, deadline);
    }
    Result<void> check_play(const ClientRequest&) const override { return {}; }

    bool there = true;
    int pulls = 0;
};

TEST(Admission, APlayerWaitsForThePullAndIsServedAsAnyOther) {
    PullingAdmission admission;
    EXPECT_EQ(std::get<StreamPlan>(MUST(admission.serve_play({}, io::Deadline::never()))).url, "/live/cam");
    EXPECT_EQ(admission.pulls, 1);
    admission.there = false;
    const auto missing = admission.serve_play({}, io::Deadline::never());
    EXPECT_EQ(missing.code(), Errc::not_found);
    EXPECT_EQ(missing.error().sentence(), "there is no stream /live/cam");
}

TEST(Admission, APublisherPullsNothing) {
    PullingAdmission admission;
    EXPECT_EQ(MUST(admission.serve_publish({}, io::Deadline::never())).url, "/live/cam");
    EXPECT_EQ(admission.pulls, 0);
}

TEST(Admission, RedirectsOnlyIfAnswered) {
    const PullingAdmission admission;
    EXPECT_FALSE(admission.may_pull({}));
    EXPECT_FALSE(admission.send_on({}).has_value());
}

TEST(ClientRequest, IsARelaysByItsPath) {
    ClientRequest request;
    EXPECT_FALSE(request.is_relay());
    EXPECT_EQ(request.relay_path(), "");
    request.claims = std::make_shared<const RelayClaims>(RelayClaims{"", "proof", ""});
    EXPECT_FALSE(request.is_relay());
    request.claims = std::make_shared<const RelayClaims>(RelayClaims{"server-1", "", ""});
    EXPECT_TRUE(request.is_relay());
    EXPECT_EQ(request.relay_path(), "server-1");
}

TEST(RelayHas, IsAnAgeOfAtMostTenSeconds) {
    EXPECT_EQ(read_relay_has("0"), std::chrono::milliseconds(0));
    EXPECT_EQ(read_relay_has("10000"), kRelayHasMax);
    for (const char* no : {"", "10001", "-1", " 1", "1 ", "1.5", "99999999999", "x"})
        EXPECT_EQ(read_relay_has(no), std::nullopt) << no;
}

}  // namespace
}  // namespace live::session
