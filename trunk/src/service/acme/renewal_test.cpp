#include "service/acme/renewal.hpp"

#include <gtest/gtest.h>

namespace live::service::acme {
namespace {

using namespace std::chrono_literals;

TEST(Renewal, IsDueAfterTwoThirdsOfTheLife) {
    const std::chrono::sys_seconds begins{1'800'000'000s};
    engine::acme::CertificateFacts facts{begins, begins + 90 * 24h, {"a.example", "b.example"}, false};
    EXPECT_EQ(renewal_of(facts, {"b.example", "a.example"}, 0), begins + 60 * 24h);
    EXPECT_EQ(renewal_of(facts, {"b.example", "a.example"}, 1), begins + 60 * 24h + 108h) << "a twentieth later at most";
    EXPECT_EQ(renewal_of(facts, {"a.example"}, 0), std::chrono::sys_seconds()) << "other names";
    facts.is_self_signed = true;
    EXPECT_EQ(renewal_of(facts, {"a.example", "b.example"}, 0), std::chrono::sys_seconds());
}

TEST(Renewal, RepeatsSlowerAfterFailures) {
    EXPECT_EQ(retry_after_failures(1, {}), 60s);
    EXPECT_EQ(retry_after_failures(2, {}), 120s);
    EXPECT_EQ(retry_after_failures(1'000, {}), 12h);
    EXPECT_EQ(retry_after_failures(1, 3h), 3h) << "a rate limit";
    EXPECT_EQ(retry_after_failures(0, {}), 60s);
}

}  // namespace
}  // namespace live::service::acme
