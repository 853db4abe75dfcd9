#include "engine/rtsp/track_receiver.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "engine/rtp/sender_clock.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtp/packet.hpp"

namespace live::engine::rtsp {
namespace {

constexpr std::uint8_t kType = 96;
constexpr std::uint32_t kSsrc = 7;
const TimePoint kStart{std::chrono::hours(1)};

std::vector<std::uint8_t> rtp(std::uint16_t sequence, std::uint32_t ssrc = kSsrc, std::uint8_t type = kType) {
    ByteWriter out;
    wire::rtp::Packet packet;
    packet.payload_type = type;
    packet.sequence = sequence;
    packet.timestamp = std::uint32_t{sequence} * 90;
    packet.ssrc = ssrc;
    wire::rtp::write_header(out, packet);
    out.u16be(sequence);
    return out.release();
}

std::vector<std::uint64_t> popped(TrackReceiver& receiver, TimePoint now) {
    std::vector<std::uint64_t> sequences;
    while (const auto packet = receiver.pop(now))
        sequences.push_back(packet->sequence & 0xFFFF);
    return sequences;
}

TEST(TrackReceiver, OrdersPackets) {
    TrackReceiver receiver(kType, 90'000);
    std::vector<std::uint64_t> at_once;
    std::vector<std::uint64_t> later;
    for (const int sequence : {10, 12, 11, 13, 14}) {
        const auto datagram = rtp(static_cast<std::uint16_t>(sequence));
        if (const auto packet = receiver.handle_rtp(kStart, datagram)) {
            at_once.push_back(packet->sequence & 0xFFFF);
            EXPECT_EQ(packet->payload.data(), datagram.data() + wire::rtp::kHeaderBytes) << "borrowed";
        }
        for (const std::uint64_t number : popped(receiver, kStart))
            later.push_back(number);
    }
    ASSERT_EQ(at_once.size(), 3U);
    const std::uint64_t first = at_once[0];
    EXPECT_EQ(at_once, (std::vector<std::uint64_t>{first, first + 3, first + 4}));
    EXPECT_EQ(later, (std::vector<std::uint64_t>{first + 1, first + 2}));
    EXPECT_FALSE(receiver.is_waiting());
    EXPECT_EQ(receiver.counters().packets, 5U);
    EXPECT_EQ(receiver.counters().lost, 0U);
}

TEST(TrackReceiver, GivesUpLostPacketsAfterATime) {
    TrackReceiver receiver(kType, 90'000);
    EXPECT_TRUE(receiver.handle_rtp(kStart, rtp(10)));
    receiver.handle_rtp(kStart, rtp(13));
    EXPECT_TRUE(receiver.is_waiting());
    EXPECT_TRUE(popped(receiver, kStart).empty());
    ASSERT_TRUE(receiver.next_timeout());
    EXPECT_EQ(popped(receiver, *receiver.next_timeout()).size(), 1U);
    EXPECT_EQ(receiver.counters().lost, 2U);
}

TEST(TrackReceiver, IgnoresOtherTypesGarbageAndSingleStrangers) {
    TrackReceiver receiver(kType, 90'000);
    receiver.handle_rtp(kStart, rtp(10));
    receiver.handle_rtp(kStart, rtp(11, kSsrc, 97));
    receiver.handle_rtp(kStart, rtp(500, 8));
    for (std::size_t size = 0; size < wire::rtp::kHeaderBytes; ++size)
        receiver.handle_rtp(kStart, Bytes(rtp(12)).first(size));
    receiver.handle_rtcp(kStart, std::vector<std::uint8_t>{0x80, 200, 0, 9, 1});
    EXPECT_EQ(receiver.counters().packets, 1U);
    EXPECT_FALSE(receiver.is_waiting());
    EXPECT_EQ(receiver.counters().ignored, 2 + wire::rtp::kHeaderBytes);
}

TEST(TrackReceiver, FollowsAnotherSourceWithAGap) {
    TrackReceiver receiver(kType, 90'000);
    const auto first = receiver.handle_rtp(kStart, rtp(10));
    std::optional<TrackReceiver::Packet> next;
    for (std::uint16_t i = 0; i < 5 && !next; ++i)
        next = receiver.handle_rtp(kStart, rtp(static_cast<std::uint16_t>(500 + i), 8));
    ASSERT_TRUE(first && next);
    EXPECT_GT(next->sequence, first->sequence + 1);
}

TEST(TrackReceiver, ReportsThePeersClock) {
    TrackReceiver receiver(kType, 90'000);
    ByteWriter out;
    wire::rtcp::write(out, wire::rtcp::SenderReport{.ssrc = kSsrc, .ntp = rtp::to_ntp(5s), .rtp_time = 900, .blocks = {}});
    receiver.handle_rtcp(kStart, out.written());
    const auto packet = receiver.handle_rtp(kStart, rtp(20));
    ASSERT_TRUE(packet && packet->reported);
    EXPECT_EQ(*packet->reported, 5s + 10ms);
}

TEST(TrackReceiver, WritesAReportOfItsPackets) {
    TrackReceiver receiver(kType, 90'000);
    ByteWriter none;
    receiver.write_report(kStart, 1, "c", none);
    EXPECT_EQ(none.size(), 0U);
    receiver.handle_rtp(kStart, rtp(10));
    receiver.handle_rtp(kStart, rtp(12));
    ByteWriter out;
    receiver.write_report(kStart, 1, "c", out);
    wire::rtcp::PacketReader reader(out.written());
    const auto report = wire::rtcp::parse_receiver_report(**reader.next());
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(report->blocks.size(), 1U);
    EXPECT_EQ(report->blocks[0].ssrc, kSsrc);
    EXPECT_EQ(report->blocks[0].lost, 1);
}

// In interleaved frames they may be longer than a datagram.
TEST(TrackReceiver, TakesLongPackets) {
    TrackReceiver receiver(kType, 90'000);
    auto packet = rtp(10);
    packet.resize(TrackReceiver::kPacketBytesMax);
    EXPECT_TRUE(receiver.handle_rtp(kStart, packet));
    packet.push_back(0);
    EXPECT_FALSE(receiver.handle_rtp(kStart, packet));
    EXPECT_EQ(receiver.counters().ignored, 1U);
}

}  // namespace
}  // namespace live::engine::rtsp
