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

// Sends everybody away.
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

}  // namespace
}  // namespace live::session
