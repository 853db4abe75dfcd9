#include "session/srt/port/half_open.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::session::srt {
namespace {

struct HalfOpenTest : ::testing::Test {
    std::vector<HalfOpen::Place> take_many(std::string_view ip, std::size_t count) {
        std::vector<HalfOpen::Place> taken;
        for (std::size_t i = 0; i < count; ++i)
            if (auto place = half_open.take(MUST(parse_ip(ip)), limits, now); place.ok())
                taken.push_back(*std::move(place));
        return taken;
    }

    std::uint64_t refused(HalfOpen::Limit by) const { return half_open.refusals()[static_cast<std::size_t>(by)].count(); }

    Log log;
    const SrtLimitOptions limits{.srt_half_open = 20, .srt_half_open_per_ip = 4};
    ConnectionLimits places{10, log};
    HalfOpen half_open{places};
    TimePoint now = TimePoint() + std::chrono::hours(1);
};

TEST_F(HalfOpenTest, AnAddressHasAShareOfThePlaces) {
    {
        const auto greedy = take_many("192.0.2.1", 9);
        EXPECT_EQ(greedy.size(), 4U);
        EXPECT_EQ(refused(HalfOpen::Limit::address), 5U);
        EXPECT_EQ(take_many("192.0.2.2", 4).size(), 4U);
        EXPECT_EQ(take_many("127.0.0.1", 30).size(), 16U) << "a trusted one has no share, only the whole";
        EXPECT_EQ(refused(HalfOpen::Limit::all), 14U);
    }
    EXPECT_EQ(half_open.size(), 0U);
    EXPECT_EQ(take_many("192.0.2.1", 9).size(), 4U) << "all were given back";
}

TEST_F(HalfOpenTest, AVirtualHostHasAHalfOfThePlaces) {
    std::vector<HalfOpen::Place> waiting;
    for (int i = 0; i < 12; ++i) {
        auto place = half_open.take(MUST(parse_ip("192.0.2." + std::to_string(i))), limits, now);
        const auto entered = place->enter_vhost("slow", now);
        EXPECT_EQ(entered.ok(), i < 10) << i;
        if (entered.ok())
            waiting.push_back(*std::move(place));
    }
    EXPECT_EQ(refused(HalfOpen::Limit::vhost), 2U);
    auto other = half_open.take(MUST(parse_ip("192.0.2.99")), limits, now);
    EXPECT_TRUE(other->enter_vhost("quick", now).ok());
    waiting.pop_back();
    auto next = half_open.take(MUST(parse_ip("192.0.2.98")), limits, now);
    EXPECT_TRUE(next->enter_vhost("slow", now).ok());
}

}  // namespace
}  // namespace live::session::srt
