#include "base/backoff.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToTheGreatestDelay) {
    Backoff backoff(3s, 30s);
    EXPECT_EQ(backoff.next(0), 3s);
    EXPECT_EQ(backoff.next(0), 6s);
    EXPECT_EQ(backoff.next(0), 12s);
    EXPECT_EQ(backoff.next(0), 24s);
    EXPECT_EQ(backoff.next(0), 30s);
    EXPECT_EQ(backoff.next(0), 30s);
}

TEST(Backoff, StartsSmallAgainAfterReset) {
    Backoff backoff(3s, 30s);
    static_cast<void>(backoff.next(0));
    static_cast<void>(backoff.next(0));
    backoff.reset();
    EXPECT_EQ(backoff.next(0), 3s);
}

TEST(Backoff, JitterIsAtMostAQuarter) {
    Backoff backoff(4s, 4s);
    EXPECT_EQ(backoff.next(UINT32_MAX), 5s);
    EXPECT_EQ(backoff.next(UINT32_MAX / 2), 4499ms);
    EXPECT_EQ(backoff.next(0), 4s);
}

}  // namespace
}  // namespace live
