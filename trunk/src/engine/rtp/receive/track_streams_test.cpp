#include "engine/rtp/receive/track_streams.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

namespace live::engine::rtp {
namespace {

constexpr std::chrono::microseconds kRoundTrip{100'000};

wire::rtp::Packet packet(std::uint32_t ssrc, std::uint16_t sequence) {
    wire::rtp::Packet made;
    made.ssrc = ssrc;
    made.sequence = sequence;
    return made;
}

TEST(TrackStreams, FindsAStreamBySsrcRtxSsrcOrRid) {
    TrackStreams streams(90'000, true);
    EXPECT_EQ(streams.only(), nullptr);
    ReceiveStream& low = streams.add(TimePoint{1s}, 1, "q", kRoundTrip);
    EXPECT_EQ(streams.only(), &low);
    ReceiveStream& high = streams.add(TimePoint{1s}, 2, "f", kRoundTrip);
    ReceiveStream& again = streams.add(TimePoint{2s}, 3, "f", kRoundTrip);
    high.rtx_ssrc = 20;
    EXPECT_EQ(streams.find(2), &high);
    EXPECT_EQ(streams.find_rtx(20), &high);
    EXPECT_EQ(streams.find_rid("f"), &again) << "the layer has another SSRC now";
    EXPECT_EQ(streams.only(), nullptr);
    EXPECT_EQ(streams.find(9), nullptr);
}

TEST(TrackStreams, RemovesTheLongestSilentStreamExceptTheKeptOne) {
    TrackStreams streams(90'000, true);
    for (std::uint32_t i = 0; i < TrackStreams::kStreamsMax; ++i) {
        EXPECT_EQ(streams.surplus(nullptr), nullptr);
        streams.add(TimePoint{std::chrono::seconds(10 + i)}, i, "", kRoundTrip);
    }
    EXPECT_EQ(streams.surplus(nullptr), &streams[0]);
    EXPECT_EQ(streams.surplus(&streams[0]), &streams[1]);
}

TEST(TrackStreams, KeepsCountsOfRemovedStreams) {
    TrackStreams streams(90'000, true);
    ReceiveStream& stream = streams.add(TimePoint{1s}, 1, "", kRoundTrip);
    for (const std::uint16_t sequence : std::initializer_list<std::uint16_t>{1, 2, 6})
        stream.receive(TimePoint{1s}, packet(1, sequence), ReceiveStream::Origin::stream, ReceiveStream::Use::watch, 100);
    EXPECT_EQ(streams.lost(), 3);
    streams.remove(stream);
    EXPECT_TRUE(streams.empty());
    EXPECT_EQ(streams.lost(), 3);
}

}  // namespace
}  // namespace live::engine::rtp
