#include "engine/relay/origin_health.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace live::engine::relay {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> kThree = {"rtmp://a:1935", "rtmp://b:1935", "rtmp://c:1935"};
const TimePoint kNow = TimePoint() + std::chrono::hours(1);

std::size_t chosen(const OriginHealth& health, std::string_view stream, TimePoint now = kNow, const LeftOrigins& left = {}) {
    return health.choose(kThree, stream, left, now).value().index;
}

TEST(OriginHealth, SpreadsStreamsAndChoosesTheSameOriginEachTime) {
    OriginHealth health;
    std::map<std::size_t, int> used;
    for (int i = 0; i < 3'000; ++i) {
        const std::string stream = "/live/" + std::to_string(i);
        const std::size_t first = chosen(health, stream);
        ++used[first];
        EXPECT_EQ(chosen(health, stream), first);
    }
    for (const auto& [origin, count] : used)
        EXPECT_NEAR(count, 1'000, 150) << origin;
}

// Nodes of different versions must agree.
TEST(OriginHealth, ChoosesTheSameOriginInEveryVersion) {
    OriginHealth health;
    EXPECT_EQ(chosen(health, "/live/cam"), 1U);
    EXPECT_EQ(chosen(health, "/live/0"), 0U);
    EXPECT_EQ(chosen(health, "/live/1"), 2U);
    EXPECT_EQ(chosen(health, "v.example/app/x"), 2U);
}

TEST(OriginHealth, MovesOnlyStreamsOfFailedOrigin) {
    OriginHealth health;
    std::map<std::string, std::size_t> before;
    for (int i = 0; i < 300; ++i)
        before["/live/" + std::to_string(i)] = chosen(health, "/live/" + std::to_string(i));
    health.report_down(kThree[1], "refused", kNow, 0);
    for (const auto& [stream, origin] : before) {
        if (origin != 1)
            EXPECT_EQ(chosen(health, stream), origin);
        else
            EXPECT_NE(chosen(health, stream), 1U);
    }
    health.report_up(kThree[1], milliseconds(3), kNow + milliseconds(1));
    for (const auto& [stream, origin] : before)
        EXPECT_EQ(chosen(health, stream, kNow + milliseconds(1)), origin) << "the first choice again";
}

TEST(OriginHealth, BacksOffFrom300MillisecondsTo10Seconds) {
    OriginHealth health;
    TimePoint now = kNow;
    const std::vector<std::string> one = {kThree[0]};
    for (const int wait : {300, 600, 1'200, 2'400, 4'800, 9'600, 10'000, 10'000}) {
        health.report_down(one[0], "refused", now, 0);
        const auto choice = health.choose(one, "/live/cam", {}, now).value();
        EXPECT_EQ(choice.wait, milliseconds(wait));
        now += choice.wait;
        EXPECT_EQ(health.choose(one, "/live/cam", {}, now).value().wait, Duration::zero());
    }
    health.report_up(one[0], milliseconds(3), now);
    health.report_down(one[0], "refused", now, 0);
    EXPECT_EQ(health.choose(one, "/live/cam", {}, now).value().wait, milliseconds(300)) << "a success resets the backoff";
    EXPECT_EQ(health.find(one[0])->failures, 9U);
    EXPECT_EQ(health.find(one[0])->tries, 10U);
}

TEST(OriginHealth, ChoosesShortestBackoffWhenAllAreDown) {
    OriginHealth health;
    for (const std::size_t twice : {0U, 2U}) {
        health.report_down(kThree[twice], "refused", kNow - milliseconds(300), 0);
        health.report_down(kThree[twice], "refused", kNow, 0);
    }
    health.report_down(kThree[1], "refused", kNow, 0);
    const auto choice = health.choose(kThree, "/live/cam", {}, kNow).value();
    EXPECT_EQ(choice.index, 1U);
    EXPECT_EQ(choice.wait, milliseconds(300));
}

TEST(OriginHealth, ChoosesEachOriginOnceBeforeLeftOnes) {
    OriginHealth health;
    LeftOrigins left;
    std::vector<std::size_t> turns;
    for (int i = 0; i < 6; ++i) {
        turns.push_back(chosen(health, "/live/cam", kNow, left));
        left.add(kThree[turns.back()]);
    }
    EXPECT_EQ(std::set(turns.begin(), turns.begin() + 3).size(), 3U);
    EXPECT_TRUE(std::equal(turns.begin(), turns.begin() + 3, turns.begin() + 3)) << "the order repeats";
    const std::size_t last = turns.back();
    for (std::size_t i = 0; i < kThree.size(); ++i)
        if (i != last)
            health.report_down(kThree[i], "refused", kNow, 0);
    EXPECT_EQ(chosen(health, "/live/cam", kNow, left), last) << "an origin that was left precedes one that is down";
    left.clear();
    EXPECT_EQ(left.rank_of(kThree[last]), 0U);
}

TEST(OriginHealth, CountsSimultaneousReportsAsOneOutage) {
    OriginHealth health;
    for (int i = 0; i < 1'000; ++i)
        health.report_down(kThree[0], "gone", kNow + milliseconds(i / 10), 0);
    EXPECT_EQ(health.find(kThree[0])->retry_at, kNow + milliseconds(300));
    EXPECT_EQ(health.find(kThree[0])->failures, 1'000U);
    for (int i = 0; i < 1'000; ++i)
        health.report_down(kThree[0], "refused", kNow + milliseconds(300), 0);
    EXPECT_EQ(health.find(kThree[0])->retry_at, kNow + milliseconds(900)) << "the retries count as one further failure";
}

TEST(OriginHealth, ReportsMediaOfOtherStreams) {
    OriginHealth health;
    health.note_media(kThree[0], kNow);
    EXPECT_FALSE(health.has_media_after(kThree[0], kNow - milliseconds(1))) << "without a record";
    health.report_up(kThree[0], milliseconds(3), kNow);
    health.note_media(kThree[0], kNow);
    EXPECT_TRUE(health.has_media_after(kThree[0], kNow - milliseconds(1)));
    EXPECT_FALSE(health.has_media_after(kThree[0], kNow));
    EXPECT_FALSE(health.has_media_after(kThree[1], kNow - milliseconds(1)));
}

TEST(LeftOrigins, ForgetsOldestAtLimit) {
    LeftOrigins left;
    for (std::size_t i = 0; i <= LeftOrigins::kMax; ++i)
        left.add(std::to_string(i));
    EXPECT_EQ(left.rank_of("0"), 0U);
    EXPECT_EQ(left.rank_of("1"), 1U);
    left.add("1");
    EXPECT_EQ(left.rank_of("1"), LeftOrigins::kMax) << "moved to the end";
}

TEST(OriginHealth, ForgetsLeastRecentlyUsedAtLimit) {
    OriginHealth health;
    for (std::size_t i = 0; i < OriginHealth::kOriginsMax + 10; ++i)
        health.report_up("rtmp://" + std::to_string(i), milliseconds(1), kNow + milliseconds(i));
    EXPECT_EQ(health.size(), OriginHealth::kOriginsMax);
    EXPECT_EQ(health.find("rtmp://0"), nullptr);
    EXPECT_NE(health.find("rtmp://20"), nullptr);
    EXPECT_FALSE(health.choose({}, "/live/cam", {}, kNow));
}

}  // namespace
}  // namespace live::engine::relay
