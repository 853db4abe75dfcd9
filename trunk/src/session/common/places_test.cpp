#include "session/common/places.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::session {
namespace {

using PlaceKind = Places::Kind;
using Reason = Places::Reason;

class Lines final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::trace; }
    void write(LogLevel, std::string_view, std::string_view message, int) override { lines.emplace_back(message); }
    std::vector<std::string> lines;
};

struct PlacesTest : ::testing::Test {
    Result<Places::Place> take(Places& places, PlaceKind kind, std::string_view ip = "192.0.2.1") {
        return places.take(kind, ip, 100, now);
    }
    std::vector<Places::Place> take_many(Places& places, PlaceKind kind, std::size_t count, std::string_view ip) {
        std::vector<Places::Place> taken;
        for (std::size_t i = 0; i < count; ++i)
            if (auto place = take(places, kind, ip); place.ok())
                taken.push_back(*std::move(place));
        return taken;
    }

    Lines sink;
    Log log{sink, "test"};
    TimePoint now = TimePoint() + 1h;
};

TEST_F(PlacesTest, APlaceIsGivenBackWithItsBytes) {
    Places places(10, log);
    {
        const auto place = take(places, PlaceKind::client);
        ASSERT_TRUE(place.ok());
        EXPECT_EQ(places.used(), 1U);
        EXPECT_EQ(places.bytes(), 100U);
    }
    EXPECT_EQ(places.used(), 0U);
    EXPECT_EQ(places.bytes(), 0U);
}

TEST_F(PlacesTest, WhenAllPlacesAreTakenTenAreLeftForControl) {
    Places places(4, log);
    const auto all = take_many(places, PlaceKind::client, 5, "127.0.0.1");
    EXPECT_EQ(all.size(), 4U);
    EXPECT_FALSE(take(places, PlaceKind::either).ok());
    EXPECT_TRUE(take(places, PlaceKind::either, "::1").ok());
    const auto control = take_many(places, PlaceKind::control, 20, "127.0.0.1");
    EXPECT_EQ(control.size(), Places::kKeptForControl);
    EXPECT_EQ(places.refused(Reason::max_connections), 12U);
}

TEST_F(PlacesTest, NoAddressHasMoreThanAHalfOfThePlaces) {
    Places places(7, log);
    const auto greedy = take_many(places, PlaceKind::client, 10, "192.0.2.1");
    EXPECT_EQ(greedy.size(), 4U);
    EXPECT_EQ(places.refused(Reason::connections_per_ip), 6U);
    EXPECT_TRUE(take(places, PlaceKind::client, "192.0.2.2").ok());
    Places one(1, log);
    EXPECT_TRUE(take(one, PlaceKind::client).ok());
}

TEST_F(PlacesTest, LoopbackAndTrustedAddressesHaveNoLimitOfTheirOwn) {
    Places places(1000, log, {.connections_per_ip = 1, .new_connections_per_ip = 1, .trusted = {"10.0.0.0/8"}});
    for (const char* ip : {"127.0.0.7", "::1", "10.1.2.3", "::ffff:10.1.2.3"})
        EXPECT_EQ(take_many(places, PlaceKind::client, 20, ip).size(), 20U) << ip;
    EXPECT_EQ(take_many(places, PlaceKind::client, 20, "11.1.2.3").size(), 1U);
    EXPECT_EQ(places.addresses().size(), 1U);
}

TEST_F(PlacesTest, AnOfferTakesNoPlaceUntilItsClientHasCome) {
    Places places(2, log);
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

TEST_F(PlacesTest, HalfOpenSessionsAreBoundedInAllAndByTheirRate) {
    Places places(10, log, {.rtc_half_open = 3, .rtc_offers_per_ip = 1});
    const auto trusted = take_many(places, PlaceKind::half_open, 9, "127.0.0.1");
    EXPECT_EQ(trusted.size(), 3U);
    EXPECT_EQ(take(places, PlaceKind::half_open).code(), Errc::limit);
    EXPECT_EQ(places.refused(Reason::rtc_half_open), 7U);
    places.set_limits(10, {.rtc_half_open = 100, .rtc_offers_per_ip = 1});
    EXPECT_EQ(take_many(places, PlaceKind::half_open, 20, "192.0.2.1").size(), 10U);
    EXPECT_EQ(places.refused(Reason::rtc_offers_per_ip), 10U);
    EXPECT_EQ(places.half_open(), 3U);
}

TEST_F(PlacesTest, ViewersAreBoundedForEachAddressAlone) {
    Places places(1, log, {.hls_sessions_per_ip = 5});
    const auto viewers = take_many(places, PlaceKind::viewer, 9, "192.0.2.1");
    EXPECT_EQ(viewers.size(), 5U);
    EXPECT_EQ(places.used(), 0U);
    EXPECT_EQ(places.refused(Reason::hls_sessions_per_ip), 4U);
}

TEST_F(PlacesTest, RefusalsAreALineEveryTenSecondsForEachReason) {
    Places places(0, log);
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

}  // namespace
}  // namespace live::session
