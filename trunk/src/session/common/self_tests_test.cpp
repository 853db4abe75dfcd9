#include "session/common/self_tests.hpp"

#include <gtest/gtest.h>

#include <array>

namespace live::session {
namespace {

SelfTestReport::Probe probe_of(bool is_reached) { return {.address = {}, .is_reached = is_reached, .finding = {}}; }

TEST(SelfTests, AreWellIfEachPlaceIsReached) {
    SelfTests tests;
    const auto both = [] { return std::array{true, true}; };
    const auto one = [] { return std::array{true, false}; };
    const auto none = [] { return std::array<bool, 0>{}; };
    EXPECT_TRUE(tests.run(both, probe_of)->is_well);
    EXPECT_FALSE(tests.run(one, probe_of)->is_well);
    EXPECT_TRUE(tests.run(one, probe_of)->is_enabled);
    EXPECT_FALSE(tests.run(none, probe_of)->is_enabled);
    EXPECT_FALSE(tests.run(none, probe_of)->is_well);
}

TEST(SelfTests, OnlyAFewRunAtTheSameTime) {
    SelfTests tests;
    const auto one = [] { return std::array{true}; };
    int depth = 0;
    Errc refused{};
    const auto nested = [&](auto self, bool) -> SelfTestReport::Probe {
        ++depth;
        const auto inner = tests.run(one, [&](bool place) { return self(self, place); });
        if (!inner.ok())
            refused = inner.code();
        return probe_of(true);
    };
    EXPECT_TRUE(tests.run(one, [&](bool place) { return nested(nested, place); }).ok());
    EXPECT_EQ(depth, SelfTests::kConcurrentMax);
    EXPECT_EQ(refused, Errc::limit);
    EXPECT_TRUE(tests.run(one, probe_of).ok()) << "the others have ended";
}

TEST(SelfTests, APortOfAllAddressesIsReachedAtTheInterfaces) {
    const Endpoint one{"192.0.2.1", 1935};
    EXPECT_EQ(reachable_endpoints(one), std::vector{one});
    for (const Endpoint& endpoint : reachable_endpoints({"0.0.0.0", 1935})) {
        EXPECT_FALSE(endpoint.is_ipv6());
        EXPECT_NE(endpoint.ip, "0.0.0.0");
        EXPECT_EQ(endpoint.port, 1935);
    }
}

}  // namespace
}  // namespace live::session
