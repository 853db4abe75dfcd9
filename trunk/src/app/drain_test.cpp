#include "app/drain.hpp"

#include <gtest/gtest.h>

namespace live::app {
namespace {

using std::chrono::milliseconds;

TEST(Drain, SessionsEndInTheLastQuarterAndNotAtOnce) {
    for (const milliseconds limit : {1s, 20s, 3'600s}) {
        std::size_t left = 500;
        std::size_t most = 0;
        for (milliseconds at{}; at < limit; at += Drain::kStep) {
            const std::size_t now = ending_now(left, limit - at, limit);
            if (at < limit - limit / Drain::kLastPart) {
                EXPECT_EQ(now, 0U);
            }
            most = std::max(most, now);
            ASSERT_LE(now, left);
            left -= now;
        }
        EXPECT_EQ(left, 0U);
        const auto steps = static_cast<std::size_t>(limit / Drain::kLastPart / Drain::kStep);
        EXPECT_LE(most, 500 / steps + 1) << "no more at once than there must be";
    }
}

// The loop comes late.
TEST(Drain, NobodyIsForgottenAtTheLimit) {
    EXPECT_EQ(ending_now(7, 1ms, 20s), 7U);
    EXPECT_EQ(ending_now(7, -5s, 20s), 7U);
    EXPECT_EQ(ending_now(0, 1ms, 20s), 0U);
}

}  // namespace
}  // namespace live::app
