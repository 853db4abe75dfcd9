#include "service/users/password_attempts.hpp"

#include <gtest/gtest.h>

namespace live::service::users {
namespace {

using namespace std::chrono_literals;
using Outcome = PasswordAttempts::Outcome;

constexpr TimePoint kStart{1h};

IpAddress ip(const std::string& text) { return MUST(parse_ip(text)); }

struct PasswordAttemptsTest : testing::Test {
    bool may(const IpAddress& address, TimePoint now) {
        if (!attempts.begin(address, now).ok())
            return false;
        attempts.end(address, Outcome::not_checked, now);
        return true;
    }
    void fail(const IpAddress& address, TimePoint now) {
        ASSERT_TRUE(attempts.begin(address, now).ok());
        attempts.end(address, Outcome::wrong, now);
    }
    PasswordAttempts attempts;
};

TEST_F(PasswordAttemptsTest, DoublesThePauseWithEachFailure) {
    TimePoint now = kStart;
    Duration pause = PasswordAttempts::kFirstPause;
    for (int i = 0; i < 20; ++i) {
        fail(ip("10.0.0.7"), now);
        EXPECT_FALSE(may(ip("10.0.0.7"), now + pause - 1us)) << i;
        EXPECT_TRUE(may(ip("10.0.0.8"), now)) << "others do not wait";
        now += pause;
        EXPECT_TRUE(may(ip("10.0.0.7"), now)) << i;
        pause = std::min(2 * pause, PasswordAttempts::kPauseMax);
    }
    EXPECT_EQ(attempts.failures(), 20U);
    EXPECT_EQ(attempts.refused(), 20U);
    now += PasswordAttempts::kForgottenAfter;
    fail(ip("10.0.0.7"), now);
    EXPECT_TRUE(may(ip("10.0.0.7"), now + PasswordAttempts::kFirstPause)) << "it begins anew";
}

TEST_F(PasswordAttemptsTest, ARightPasswordChangesNothing) {
    fail(ip("10.0.0.7"), kStart);
    const TimePoint now = kStart + PasswordAttempts::kFirstPause;
    ASSERT_TRUE(attempts.begin(ip("10.0.0.7"), now).ok());
    attempts.end(ip("10.0.0.7"), Outcome::right, now);
    fail(ip("10.0.0.7"), now);
    EXPECT_FALSE(may(ip("10.0.0.7"), now + PasswordAttempts::kFirstPause)) << "an account of one's own resets no count";
    ASSERT_TRUE(attempts.begin(ip("10.0.0.8"), now).ok());
    attempts.end(ip("10.0.0.8"), Outcome::right, now);
    EXPECT_EQ(attempts.size(), 1U) << "an address without failures is not kept";
}

TEST_F(PasswordAttemptsTest, BoundsTheChecksOfAnAddressAtOnce) {
    for (std::size_t i = 0; i < PasswordAttempts::kPendingMax; ++i)
        EXPECT_TRUE(attempts.begin(ip("2001:db8::1"), kStart).ok());
    EXPECT_EQ(attempts.begin(ip("2001:db8::2"), kStart).code(), Errc::limit) << "the same /64";
    EXPECT_TRUE(attempts.begin(ip("2001:db8:0:1::1"), kStart).ok());
    attempts.end(ip("2001:db8::1"), Outcome::right, kStart);
    EXPECT_TRUE(attempts.begin(ip("2001:db8::2"), kStart).ok());
}

TEST_F(PasswordAttemptsTest, ForgetsTheOldestBeyondItsBound) {
    IpAddress address = ip("10.0.0.0");
    ASSERT_TRUE(attempts.begin(ip("192.0.2.1"), kStart).ok());
    for (std::size_t i = 0; i < PasswordAttempts::kAddressesMax + 10; ++i) {
        address.bytes[13] = static_cast<std::uint8_t>(i >> 16);
        address.bytes[14] = static_cast<std::uint8_t>(i >> 8);
        address.bytes[15] = static_cast<std::uint8_t>(i);
        fail(address, kStart);
    }
    EXPECT_EQ(attempts.size(), PasswordAttempts::kAddressesMax);
    EXPECT_FALSE(may(address, kStart));
    EXPECT_TRUE(may(ip("10.0.0.0"), kStart)) << "forgotten";
    attempts.end(ip("192.0.2.1"), Outcome::wrong, kStart);
    EXPECT_FALSE(may(ip("192.0.2.1"), kStart)) << "one with a check is kept";
}

}  // namespace
}  // namespace live::service::users
