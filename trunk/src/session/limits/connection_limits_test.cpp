#include "session/limits/connection_limits.hpp"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace live::session {
namespace {

using PlaceKind = ConnectionLimits::Kind;
using Reason = ConnectionLimits::Reason;

class Lines final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::trace; }
    void write(LogLevel, std::string_view, std::string_view message, int) override { lines.emplace_back(message); }
    std::vector<std::string> lines;
};

struct ConnectionLimitsTest : ::testing::Test {
    Result<ConnectionLimits::Place> take(ConnectionLimits& places, PlaceKind kind, std::string_view ip = "192.0.2.1") {
        return places.take(kind, ip, 100, now);
    }
    std::vector<ConnectionLimits::Place> take_many(ConnectionLimits& places, PlaceKind kind, std::size_t count,
                                                   std::string_view ip) {
        std::vector<ConnectionLimits::Place> taken;
        for (std::size_t i = 0; i < count; ++i)
            if (auto place = take(places, kind, ip); place.ok())
                taken.push_back(*std::move(place));
        return taken;
    }

    Lines sink;
    Log log{sink, "test"};
    TimePoint now = TimePoint() + 1h;
};

TEST_F(ConnectionLimitsTest, ReleasesPlaceWithItsBytes) {
    ConnectionLimits places(10, log);
    {
        const auto place = take(places, PlaceKind::client);
        ASSERT_TRUE(place.ok());
        EXPECT_EQ(places.used(), 1U);
        EXPECT_EQ(places.bytes(), 100U);
    }
    EXPECT_EQ(places.used(), 0U);
    EXPECT_EQ(places.bytes(), 0U);
}

TEST_F(ConnectionLimitsTest, KeepsTenPlacesForControlWhenFull) {
    ConnectionLimits places(4, log);
    const auto all = take_many(places, PlaceKind::client, 5, "127.0.0.1");
    EXPECT_EQ(all.size(), 4U);
    EXPECT_FALSE(take(places, PlaceKind::either).ok());
    EXPECT_TRUE(take(places, PlaceKind::either, "::1").ok());
    const auto control = take_many(places, PlaceKind::control, 20, "127.0.0.1");
    EXPECT_EQ(control.size(), ConnectionLimits::kKeptForControl);
    EXPECT_EQ(places.refused(Reason::max_connections), 12U);
}

TEST_F(ConnectionLimitsTest, LimitsAnAddressToHalfOfThePlaces) {
    ConnectionLimits places(7, log);
    const auto greedy = take_many(places, PlaceKind::client, 10, "192.0.2.1");
    EXPECT_EQ(greedy.size(), 4U);
    EXPECT_EQ(places.refused(Reason::connections_per_ip), 6U);
    EXPECT_TRUE(take(places, PlaceKind::client, "192.0.2.2").ok());
    ConnectionLimits one(1, log);
    EXPECT_TRUE(take(one, PlaceKind::client).ok());
}

TEST_F(ConnectionLimitsTest, CountsAFurtherPlaceButNotAsANewConnection) {
    ConnectionLimits places(1'000, log, {.connections_per_ip = 200, .new_connections_per_ip = 1});
    const auto first = take(places, PlaceKind::client);
    ASSERT_TRUE(first.ok());
    std::vector<ConnectionLimits::Place> further;
    for (auto place = places.take_another(PlaceKind::client, "192.0.2.1", 100, now); place.ok();
         place = places.take_another(PlaceKind::client, "192.0.2.1", 100, now))
        further.push_back(*std::move(place));
    EXPECT_EQ(further.size(), 199U);
    EXPECT_EQ(places.used(), 200U);
    EXPECT_EQ(places.refused(Reason::connections_per_ip), 1U);
    EXPECT_EQ(places.refused(Reason::new_connections_per_ip), 0U);
}

TEST_F(ConnectionLimitsTest, ExemptsLoopbackAndTrustedAddressesFromPerAddressLimits) {
    ConnectionLimits places(1000, log, {.connections_per_ip = 1, .new_connections_per_ip = 1, .trusted = {"10.0.0.0/8"}});
    for (const char* ip : {"127.0.0.7", "::1", "10.1.2.3", "::ffff:10.1.2.3"})
        EXPECT_EQ(take_many(places, PlaceKind::client, 20, ip).size(), 20U) << ip;
    EXPECT_EQ(take_many(places, PlaceKind::client, 20, "11.1.2.3").size(), 1U);
    EXPECT_EQ(places.addresses().size(), 1U);
}

TEST_F(ConnectionLimitsTest, OfferTakesNoPlaceUntilItsClientConnects) {
    ConnectionLimits places(2, log);
    const auto offers = take_many(places, PlaceKind::half_open, 1000, "192.0.2.1");
    EXPECT_EQ(offers.size(), 200U);
    EXPECT_EQ(places.half_open(), 200U);
    EXPECT_EQ(places.used(), 0U);
    EXPECT_EQ(places.refused(Reason::rtc_half_open_per_ip), 800U);

    auto offer = take(places, PlaceKind::half_open, "192.0.2.2");
    ASSERT_TRUE(offer.ok());
    ASSERT_TRUE(offer->arrive(now).ok());
    EXPECT_EQ(places.half_open(), 200U);
    EXPECT_EQ(places.used(), 1U);
    // One of two is half of the places.
    auto second = take(places, PlaceKind::half_open, "192.0.2.2");
    EXPECT_EQ(second->arrive(now).code(), Errc::limit);
    auto third = take(places, PlaceKind::half_open, "192.0.2.3");
    auto fourth = take(places, PlaceKind::half_open, "192.0.2.4");
    EXPECT_TRUE(third->arrive(now).ok());
    EXPECT_EQ(fourth->arrive(now).code(), Errc::limit);
    EXPECT_EQ(take(places, PlaceKind::half_open, "192.0.2.5").code(), Errc::limit) << "it would come for nothing";
    EXPECT_EQ(places.half_open(), 202U);
}

TEST_F(ConnectionLimitsTest, LimitsHalfOpenSessionsInTotalAndByRate) {
    ConnectionLimits places(10, log, {.rtc_half_open = 3, .rtc_offers_per_ip = 1});
    const auto trusted = take_many(places, PlaceKind::half_open, 9, "127.0.0.1");
    EXPECT_EQ(trusted.size(), 3U);
    EXPECT_EQ(take(places, PlaceKind::half_open).code(), Errc::limit);
    EXPECT_EQ(places.refused(Reason::rtc_half_open), 7U);
    places.set_limits(10, {.rtc_half_open = 100, .rtc_offers_per_ip = 1});
    EXPECT_EQ(take_many(places, PlaceKind::half_open, 20, "192.0.2.1").size(), 10U);
    EXPECT_EQ(places.refused(Reason::rtc_offers_per_ip), 10U);
    EXPECT_EQ(places.half_open(), 3U);
}

TEST_F(ConnectionLimitsTest, LimitsViewersPerAddressOnly) {
    ConnectionLimits places(1, log, {.hls_sessions_per_ip = 5});
    const auto viewers = take_many(places, PlaceKind::viewer, 9, "192.0.2.1");
    EXPECT_EQ(viewers.size(), 5U);
    EXPECT_EQ(places.used(), 0U);
    EXPECT_EQ(places.refused(Reason::hls_sessions_per_ip), 4U);
}

TEST_F(ConnectionLimitsTest, LogsRefusalsOncePerReasonAndTenSeconds) {
    ConnectionLimits places(0, log);
    for (int i = 0; i < 500; ++i)
        EXPECT_FALSE(take(places, PlaceKind::client).ok());
    ASSERT_EQ(sink.lines.size(), 1U);
    EXPECT_EQ(sink.lines[0], "refused 192.0.2.1: 0 connections are the limit (max_connections), code=1074");
    now += 10s;
    EXPECT_FALSE(take(places, PlaceKind::client, "192.0.2.9").ok());
    ASSERT_EQ(sink.lines.size(), 2U);
    EXPECT_EQ(sink.lines[1],
              "refused 192.0.2.9: 0 connections are the limit (max_connections), code=1074; 499 more were refused for this since "
              "the last such line");
    EXPECT_EQ(places.refused(Reason::max_connections), 501U);
}

// Two workers that share only this memory.
struct ConnectionLimitsOfWorkersTest : ConnectionLimitsTest {
    using SharedLimits = engine::workers::SharedLimits;
    ConnectionLimitsOfWorkersTest() {
        one.share(first);
        other.share(second);
    }
    void limit(std::size_t max, const LimitOptions& options) {
        one.set_limits(max, options);
        other.set_limits(max, options);
    }

    alignas(SharedLimits::kAlignment) static inline std::array<std::uint8_t, 2 << 20> memory;
    MutBytes all = [] {
        memory.fill(0);
        return MutBytes(memory);
    }();
    SharedLimits first{all, 2, 1, {}};
    SharedLimits second{all, 2, 2, {}};
    ConnectionLimits one{1000, log};
    ConnectionLimits other{1000, log};
};

TEST_F(ConnectionLimitsOfWorkersTest, AllWorkersShareTheLimits) {
    limit(8, {});
    const auto taken = take_many(one, PlaceKind::client, 6, "127.0.0.1");
    EXPECT_EQ(taken.size(), 6U);
    EXPECT_TRUE(other.is_crowded());
    EXPECT_EQ(take_many(other, PlaceKind::client, 6, "127.0.0.1").size(), 2U);
    EXPECT_EQ(take_many(one, PlaceKind::client, 6, "127.0.0.1").size(), 2U) << "those of the other worker are given back";
    EXPECT_EQ(take_many(other, PlaceKind::control, 20, "127.0.0.1").size(), 2 + ConnectionLimits::kKeptForControl);
}

TEST_F(ConnectionLimitsOfWorkersTest, PerAddressLimitsCoverAllWorkers) {
    limit(1000, {.connections_per_ip = 5, .rtc_half_open_per_ip = 3, .hls_sessions_per_ip = 4});
    for (const auto& [kind, bound] :
         {std::pair(PlaceKind::client, 5U), std::pair(PlaceKind::half_open, 3U), std::pair(PlaceKind::viewer, 4U)}) {
        const auto here = take_many(one, kind, 2, "192.0.2.1");
        EXPECT_EQ(take_many(other, kind, 9, "192.0.2.1").size(), bound - 2);
        EXPECT_EQ(take_many(other, kind, 9, "192.0.2.1").size(), bound - 2) << "what was refused was not counted";
        EXPECT_EQ(take_many(other, kind, 9, "192.0.2.2").size(), bound) << "another address";
    }
    EXPECT_EQ(one.addresses().size(), 1U);
    EXPECT_EQ(take_many(one, PlaceKind::client, 9, "192.0.2.1").size(), 5U) << "all are given back";
}

TEST_F(ConnectionLimitsOfWorkersTest, PerAddressRateCoversAllWorkers) {
    limit(1000, {.new_connections_per_ip = 2});
    EXPECT_EQ(take_many(one, PlaceKind::client, 15, "192.0.2.1").size(), 15U);
    EXPECT_EQ(take_many(other, PlaceKind::client, 15, "192.0.2.1").size(), 5U);
    EXPECT_EQ(other.refused(Reason::new_connections_per_ip), 10U);
    EXPECT_EQ(take_many(other, PlaceKind::client, 15, "192.0.2.1").size(), 0U);
    now += 1s;
    EXPECT_EQ(take_many(one, PlaceKind::client, 15, "192.0.2.1").size(), 2U);
}

TEST_F(ConnectionLimitsOfWorkersTest, CountsOffersOfAllWorkersUntilTheirClientsConnect) {
    limit(2, {.rtc_half_open = 3});
    auto offers = take_many(one, PlaceKind::half_open, 2, "127.0.0.1");
    EXPECT_EQ(take_many(other, PlaceKind::half_open, 5, "127.0.0.1").size(), 1U);
    ASSERT_TRUE(offers[0].arrive(now).ok());
    const auto client = take(other, PlaceKind::client, "127.0.0.1");
    ASSERT_TRUE(client.ok());
    EXPECT_EQ(offers[1].arrive(now).code(), Errc::limit);
    EXPECT_FALSE(take(other, PlaceKind::half_open, "127.0.0.1").ok()) << "it would come for nothing";
}

// The limits hold under random load, and all counts return to zero.
TEST_F(ConnectionLimitsOfWorkersTest, RefusalsLeaveNoCounts) {
    limit(100, {.connections_per_ip = 10, .rtc_half_open = 20, .rtc_half_open_per_ip = 7});
    std::uint32_t seed = 1;
    const auto random = [&] { return (seed = seed * 1'664'525 + 1'013'904'223) >> 16; };
    {
        std::vector<ConnectionLimits::Place> places;
        for (int i = 0; i < 3'000; ++i) {
            now += 10ms;
            const auto kind = std::array{PlaceKind::client, PlaceKind::half_open, PlaceKind::viewer}[random() % 3];
            const std::string ip = fmt::format("192.0.2.{}", random() % 20);
            if (auto place = take(random() % 2 == 0 ? one : other, kind, ip); place.ok()) {
                if (kind == PlaceKind::half_open && random() % 2 == 0)
                    static_cast<void>(place->arrive(now));
                places.push_back(*std::move(place));
            }
            while (places.size() > 80 && random() % 4 != 0)
                places.pop_back();
            ASSERT_LE(one.used() + other.used(), 100U);
            ASSERT_LE(one.half_open() + other.half_open(), 20U);
        }
    }
    EXPECT_EQ(first.others(SharedLimits::Sum::places) + second.others(SharedLimits::Sum::places), 0U);
    EXPECT_EQ(first.others(SharedLimits::Sum::half_open) + second.others(SharedLimits::Sum::half_open), 0U);
    now += 1h;
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(take_many(one, PlaceKind::client, 20, fmt::format("192.0.2.{}", i)).size(), 10U);
}

}  // namespace
}  // namespace live::session
