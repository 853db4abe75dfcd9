#include "session/common/admission.hpp"

#include <gtest/gtest.h>

namespace live::session {
namespace {

TEST(Answer, ServesWithAPlan) {
    StreamPlan plan;
    plan.url = "/live/cam";
    Answer answer = plan;
    EXPECT_EQ(answer.kind(), Answer::Kind::serve);
    EXPECT_EQ(MUST(std::move(answer).served()).url, "/live/cam");
}

TEST(Answer, RefusesWithAReason) {
    Answer answer = Error(Errc::denied, "not today");
    EXPECT_EQ(answer.kind(), Answer::Kind::refuse);
    const auto served = std::move(answer).served();
    EXPECT_EQ(served.code(), Errc::denied);
    EXPECT_EQ(served.error().sentence(), "not today");
}

}  // namespace
}  // namespace live::session
