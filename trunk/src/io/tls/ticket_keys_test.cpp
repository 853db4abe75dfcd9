#include "io/tls/ticket_keys.hpp"

#include <gtest/gtest.h>

namespace live::io {
namespace {

using Age = TicketKeys::Age;
using std::chrono::hours;

const TicketKeys::WallTime kStart{hours(480'000)};  // a whole period

TEST(TicketKeys, AreTheSameForAllWhoHaveTheSecret) {
    TicketKeys one("secret");
    TicketKeys two("secret");
    TicketKeys other("another");
    const auto& key = *MUST(one.current(kStart));
    const auto& same = *MUST(two.current(kStart + TicketKeys::kPeriod - std::chrono::seconds(1)));
    EXPECT_EQ(key.name, same.name);
    EXPECT_EQ(key.encryption, same.encryption);
    EXPECT_EQ(key.authentication, same.authentication);
    EXPECT_NE(key.encryption, key.authentication);
    EXPECT_NE(key.encryption, MUST(other.current(kStart))->encryption);
    EXPECT_NE(key.name, MUST(other.current(kStart))->name);
}

TEST(TicketKeys, AreReplacedAfterAPeriodAndAcceptedForAnother) {
    TicketKeys keys("secret");
    const TicketKeys::Key first = *MUST(keys.current(kStart));
    EXPECT_EQ(MUST(keys.find(first.name, kStart)).age, Age::current);
    const auto next = kStart + TicketKeys::kPeriod;
    EXPECT_NE(MUST(keys.current(next))->encryption, first.encryption);
    const auto found = MUST(keys.find(first.name, next));
    EXPECT_EQ(found.age, Age::previous);
    EXPECT_EQ(found.key->encryption, first.encryption);
    EXPECT_EQ(MUST(keys.find(first.name, next + TicketKeys::kPeriod)).age, Age::unknown);
    EXPECT_EQ(MUST(keys.find(first.name, next + TicketKeys::kPeriod)).key, nullptr);
}

// A worker that was idle for hours, and one that starts now.
TEST(TicketKeys, APeriodMayBeSkippedAndTimeMayGoBack) {
    TicketKeys idle("secret");
    MUST(idle.current(kStart));
    const auto later = kStart + 5 * TicketKeys::kPeriod;
    TicketKeys fresh("secret");
    const TicketKeys::Key before = *MUST(fresh.current(later - TicketKeys::kPeriod));
    EXPECT_EQ(MUST(idle.find(before.name, later)).age, Age::previous);
    EXPECT_EQ(MUST(idle.find(before.name, later - TicketKeys::kPeriod)).age, Age::current);
}

TEST(TicketKeys, ATicketLivesNoLongerThanItsKeyIsAccepted) { EXPECT_LE(TicketKeys::kTicketLife, TicketKeys::kPeriod); }

TEST(TicketKeys, UnknownNamesAreFoundNowhere) {
    TicketKeys keys("");
    EXPECT_EQ(MUST(keys.find({}, kStart)).age, Age::unknown);
    const std::array<std::uint8_t, 16> zeros{};
    EXPECT_EQ(MUST(keys.find(zeros, kStart)).age, Age::unknown);
}

}  // namespace
}  // namespace live::io
