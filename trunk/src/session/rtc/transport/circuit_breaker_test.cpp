#include "session/rtc/transport/circuit_breaker.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::session::rtc {
namespace {

std::vector<int> levels(CircuitBreaker& breaker, const std::vector<double>& loads) {
    std::vector<int> found;
    for (const double load : loads) {
        const int before = breaker.level();
        const bool is_event = breaker.take_load(load);
        EXPECT_EQ(is_event, breaker.level() != before);
        found.push_back(breaker.level());
    }
    return found;
}

TEST(CircuitBreaker, StepsAreTakenAboveTheirThresholds) {
    CircuitBreaker breaker{CircuitBreakerOptions{}};
    EXPECT_EQ(levels(breaker, {0, 90, 90.1, 95, 95.1, 99}), (std::vector{0, 0, 1, 1, 2, 2}));
}

TEST(CircuitBreaker, TheyAreTakenBackAfterSomeSecondsBelow) {
    CircuitBreaker breaker{CircuitBreakerOptions{}};
    EXPECT_EQ(levels(breaker, {96, 80, 80, 80}), (std::vector{2, 1, 0, 0}));
    EXPECT_EQ(levels(breaker, {91, 80, 91, 80, 80}), (std::vector{1, 1, 1, 1, 0}));
}

TEST(CircuitBreaker, DropsForPlayersOnlyWhileOverloadLasts) {
    CircuitBreaker breaker{CircuitBreakerOptions{}};
    EXPECT_EQ(levels(breaker, {100, 100, 100, 100, 99, 100, 100, 100, 100, 100, 100, 50}),
              (std::vector{2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 1}));
    EXPECT_FALSE(breaker.is_dying());
}

TEST(CircuitBreaker, WithoutAPulseItFollowsTheLoad) {
    CircuitBreaker breaker{CircuitBreakerOptions{.high_pulse = 0, .critical_pulse = 0, .dying_pulse = 0}};
    EXPECT_EQ(levels(breaker, {99.5, 98, 92, 10}), (std::vector{3, 2, 1, 0}));
}

TEST(CircuitBreaker, DoesNothingWhenDisabled) {
    CircuitBreaker breaker{CircuitBreakerOptions{.enabled = false}};
    EXPECT_EQ(levels(breaker, {100, 100, 100, 100, 100, 100}), std::vector<int>(6, 0));
}

}  // namespace
}  // namespace live::session::rtc
