#include "engine/gb28181/media_receiver.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "engine/gb28181/rtp_fixture.hpp"

namespace live::engine::gb28181 {
namespace {

using wire::codec::Content;

std::size_t frames(MediaReceiver& receiver) {
    std::size_t count = 0;
    while (const auto unit = receiver.next())
        count += unit->frame.content == Content::frame ? 1 : 0;
    return count;
}

TEST(MediaReceiver, ReadsDatagramsInAnyOrder) {
    MediaReceiver receiver(kSsrc);
    Camera camera;
    std::minstd_rand random(1);
    std::size_t read = 0;
    for (unsigned i = 0; i < 20; ++i) {
        auto packets = camera.image(20'000);
        std::shuffle(packets.begin() + (i == 0 ? 1 : 0), packets.end(), random);
        for (const auto& packet : packets)
            receiver.handle_datagram(kStart, packet);
        read += frames(receiver);
    }
    receiver.finish();
    EXPECT_EQ(read + frames(receiver), 20u);
    EXPECT_EQ(receiver.order().lost, 0u);
}

TEST(MediaReceiver, ALostDatagramCostsItsImage) {
    MediaReceiver receiver(kSsrc);
    Camera camera;
    for (unsigned i = 0; i < 20; ++i) {
        auto packets = camera.image(20'000);
        if (i == 10)
            packets.erase(packets.begin() + 3);
        for (const auto& packet : packets)
            receiver.handle_datagram(kStart + i * 40ms, packet);
    }
    receiver.finish();
    EXPECT_EQ(frames(receiver), 18u) << "and the image before it, whose end was not known";
    EXPECT_EQ(receiver.order().lost, 1u);
}

TEST(MediaReceiver, ReadsTcpPacketsOf64KiB) {
    wire::ps::PsBuilder ps;
    const auto first = Camera().image(10);
    ps.pack().pes(0xC0, 90'000, wire::ps::built_adts(8'000)).pack().pes(0xE0, 93'600, std::vector<std::uint8_t>(57'000, 1));
    MediaReceiver receiver(kSsrc);
    receiver.handle_tcp_packet(first[0], false);
    receiver.handle_tcp_packet(rtp_packet(9, kSsrc, ps.bytes), false);
    EXPECT_EQ(receiver.counters().packets, 2u);
    EXPECT_EQ(frames(receiver), 2u);
}

TEST(MediaReceiver, IgnoresOtherSsrcsAndRtcp) {
    MediaReceiver receiver(kSsrc);
    receiver.handle_datagram(kStart, Camera(kSsrc + 1).image(10)[0]);
    receiver.handle_datagram(kStart, std::vector<std::uint8_t>{1, 2, 3});
    receiver.handle_datagram(kStart, std::vector<std::uint8_t>{0x80, 200, 0, 1, 0, 0, 0, 1});
    EXPECT_EQ(receiver.counters().foreign, 2u);
    EXPECT_EQ(receiver.counters().packets, 0u);
}

TEST(MediaReceiver, HoldsNoMoreFramesThanItsLimit) {
    MediaReceiver receiver(kSsrc);
    Camera camera;
    for (unsigned i = 0; i < 100; ++i)
        for (const auto& packet : camera.image(100'000))
            receiver.handle_datagram(kStart, packet);
    EXPECT_LE(receiver.held_bytes(), MediaReceiver::kWaitingBytesMax + 300'000);
    EXPECT_GT(receiver.counters().left_out, 0u);
    EXPECT_EQ(frames(receiver) + receiver.counters().left_out, 100u);
}

TEST(MediaReceiver, FindsTheSsrc) {
    EXPECT_EQ(ssrc_of(rtp_packet(1, 77, {})), 77u);
    EXPECT_FALSE(ssrc_of(std::vector<std::uint8_t>{0x80, 200, 0, 1, 0, 0, 0, 1}));
    EXPECT_FALSE(ssrc_of(std::vector<std::uint8_t>{0x80, 96, 0}));
    EXPECT_FALSE(ssrc_of({}));
}

}  // namespace
}  // namespace live::engine::gb28181
