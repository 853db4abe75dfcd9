#include "engine/dtls/last_flight.hpp"

#include <gtest/gtest.h>

#include "engine/dtls/records.hpp"

namespace live::engine::dtls {
namespace {

using Octets = std::vector<std::uint8_t>;

constexpr std::uint8_t kHandshake = 22;
constexpr std::uint8_t kApplicationData = 23;

Octets record(std::uint8_t type, std::uint8_t epoch, std::uint8_t bytes) {
    Octets made{type, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 0, 0, bytes};
    made.resize(made.size() + bytes);
    return made;
}
Octets both(Octets first, const Octets& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

const TimePoint kSent{};
const TimePoint kLater = kSent + LastFlight::kInterval;
const Octets kFinished = record(kHandshake, 1, 40);

TEST(DtlsLastFlight, IsDueForAPeerThatRepeatsItsFinished) {
    const Octets flight{1, 2, 3};
    LastFlight last(std::vector<Octets>(1, flight), kSent);
    EXPECT_TRUE(last.is_wanted(kLater, kFinished));
    EXPECT_EQ(last.datagrams(), std::vector<Octets>(1, flight));
    // After the rest of a client's flight.
    EXPECT_TRUE(
        last.is_wanted(kLater + LastFlight::kInterval, both(record(kHandshake, 0, 66), both(record(20, 0, 1), kFinished))));
}

TEST(DtlsLastFlight, IsNotDueForOtherRecords) {
    LastFlight last(std::vector<Octets>(1, Octets{1}), kSent);
    EXPECT_FALSE(last.is_wanted(kLater, record(kHandshake, 0, 66))) << "without the new keys it may be anybody's";
    EXPECT_FALSE(last.is_wanted(kLater, record(kApplicationData, 1, 40)));
    EXPECT_FALSE(last.is_wanted(kLater, {}));
    for (std::size_t bytes = 0; bytes < kFinished.size(); ++bytes)
        EXPECT_FALSE(last.is_wanted(kLater, Bytes(kFinished).first(bytes))) << bytes;
}

TEST(DtlsLastFlight, IsSentNoMoreOftenThanItsInterval) {
    LastFlight last(std::vector<Octets>(1, Octets{1}), kSent);
    EXPECT_FALSE(last.is_wanted(kLater - std::chrono::nanoseconds(1), kFinished));
    EXPECT_TRUE(last.is_wanted(kLater, kFinished));
    EXPECT_FALSE(last.is_wanted(kLater, kFinished));
    EXPECT_TRUE(last.is_wanted(kLater + LastFlight::kInterval, kFinished));
}

TEST(DtlsLastFlight, LimitsTheRecordsItExamines) {
    LastFlight last(std::vector<Octets>(1, Octets{1}), kSent);
    Octets many;
    for (std::size_t i = 1; i < kRecordsMax; ++i)
        many = both(many, record(20, 0, 1));
    EXPECT_FALSE(last.is_wanted(kLater, both(many, both(record(20, 0, 1), kFinished))));
    EXPECT_TRUE(last.is_wanted(kLater, both(many, kFinished)));
}

}  // namespace
}  // namespace live::engine::dtls
