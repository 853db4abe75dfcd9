#include "engine/webrtc/handshake_flights.hpp"

#include <gtest/gtest.h>

namespace live::engine::webrtc {
namespace {

using namespace std::chrono_literals;

TransportAddress address(std::uint16_t port) {
    TransportAddress made;
    made.port = port;
    return made;
}

TEST(HandshakeFlights, MeasuresTheFirstFlightOnly) {
    HandshakeFlights flights;
    const TimePoint start = TimePoint() + 1h;
    flights.note_answer(start);
    EXPECT_FALSE(flights.round_trip()) << "nothing was sent";
    flights.note_sent(start, address(1));
    flights.note_sent(start + 20ms, address(1));
    flights.note_answer(start + 50ms);
    EXPECT_EQ(flights.round_trip(), 50ms);
    flights.note_sent(start + 60ms, address(1));
    flights.note_answer(start + 61ms);
    EXPECT_EQ(flights.round_trip(), 50ms);
}

TEST(HandshakeFlights, BoundsTheRoundTrip) {
    HandshakeFlights flights;
    const TimePoint start = TimePoint() + 1h;
    flights.note_sent(start, std::nullopt);
    flights.note_answer(start + 1min);
    EXPECT_EQ(flights.round_trip(), HandshakeFlights::kRoundTripMax);
    HandshakeFlights early;
    early.note_sent(start, std::nullopt);
    early.note_answer(start - 1s);
    EXPECT_EQ(early.round_trip(), 0s);
}

TEST(HandshakeFlights, HasOneDestinationUnlessItMoved) {
    HandshakeFlights flights;
    EXPECT_FALSE(flights.only_destination());
    flights.note_sent({}, address(1));
    flights.note_sent({}, std::nullopt);
    EXPECT_EQ(flights.only_destination(), address(1));
    flights.note_sent({}, address(2));
    EXPECT_FALSE(flights.only_destination());
    flights.note_sent({}, address(2));
    EXPECT_FALSE(flights.only_destination());
}

}  // namespace
}  // namespace live::engine::webrtc
