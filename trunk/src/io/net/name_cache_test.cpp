#include "io/net/name_cache.hpp"

#include <gtest/gtest.h>

namespace live::io {
namespace {

using Ips = std::vector<std::string>;
const TimePoint kStart = TimePoint() + 1h;

TEST(NameCache, AnAnswerIsFreshForAMinuteAndAFailureForTenSeconds) {
    NameCache cache;
    EXPECT_FALSE(cache.find("a.example", kStart));
    cache.put("a.example", {"192.0.2.1", "192.0.2.2"}, kStart);
    cache.put("bad.example", {}, kStart);
    EXPECT_TRUE(cache.find("a.example", kStart + 59s)->is_fresh);
    EXPECT_FALSE(cache.find("a.example", kStart + 60s)->is_fresh);
    EXPECT_EQ(cache.find("a.example", kStart + 59s)->ips, (Ips{"192.0.2.1", "192.0.2.2"}));
    EXPECT_TRUE(cache.find("bad.example", kStart + 9s)->is_fresh);
    EXPECT_TRUE(cache.find("bad.example", kStart + 9s)->ips.empty());
    EXPECT_FALSE(cache.find("bad.example", kStart + 10s)->is_fresh);
}

TEST(NameCache, KeepsAnOldAnswerForAnHourOnFailures) {
    NameCache cache;
    cache.put("a.example", {"192.0.2.1"}, kStart);
    cache.put("a.example", {}, kStart + 70s);
    const auto known = cache.find("a.example", kStart + 75s);
    EXPECT_TRUE(known->is_fresh);
    EXPECT_EQ(known->ips, Ips{"192.0.2.1"});
    EXPECT_EQ(cache.find("a.example", kStart + 3599s)->ips, Ips{"192.0.2.1"});
    EXPECT_TRUE(cache.find("a.example", kStart + 3600s)->ips.empty());
    cache.put("a.example", {"192.0.2.9"}, kStart + 2h);
    EXPECT_EQ(cache.find("a.example", kStart + 2h)->ips, Ips{"192.0.2.9"});
}

TEST(NameCache, IsBoundedAndKeepsGoodNamesUnderAFloodOfBadOnes) {
    NameCache cache;
    cache.put("good.example", {"192.0.2.1"}, kStart);
    for (std::size_t i = 0; i < 5 * NameCache::kNamesMax; ++i)
        cache.put(std::to_string(i) + ".invalid", {}, kStart);
    EXPECT_EQ(cache.size(), NameCache::kNamesMax);
    EXPECT_EQ(cache.find("good.example", kStart)->ips, Ips{"192.0.2.1"});
    EXPECT_FALSE(cache.find("0.invalid", kStart));
    // Among resolved names, the one in use stays.
    for (std::size_t i = 0; i < 2 * NameCache::kNamesMax; ++i) {
        cache.put(std::to_string(i) + ".example", {"192.0.2.2"}, kStart);
        EXPECT_TRUE(cache.find("good.example", kStart));
    }
    EXPECT_EQ(cache.size(), NameCache::kNamesMax);
}

}  // namespace
}  // namespace live::io
