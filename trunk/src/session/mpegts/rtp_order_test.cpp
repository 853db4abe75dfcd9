#include "session/mpegts/rtp_order.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp/packet.hpp"

namespace live::session::mpegts {
namespace {

using Buffer = std::vector<std::uint8_t>;

Buffer numbered(std::uint16_t sequence, std::uint32_t ssrc = 1) {
    wire::rtp::Packet packet;
    packet.payload_type = RtpOrder::kPayloadType;
    packet.sequence = sequence;
    packet.ssrc = ssrc;
    ByteWriter out;
    wire::rtp::write_header(out, packet);
    out.u16be(sequence);
    return out.release();
}

std::vector<std::uint16_t> numbers_of(const Buffer& bytes) {
    std::vector<std::uint16_t> numbers;
    for (std::size_t at = 0; at + 1 < bytes.size(); at += 2)
        numbers.push_back(static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]));
    return numbers;
}

std::vector<std::uint16_t> pushed(RtpOrder& order, const std::vector<std::uint16_t>& sequences) {
    Buffer out;
    for (const std::uint16_t sequence : sequences)
        order.push(numbered(sequence), out);
    return numbers_of(out);
}

TEST(RtpOrder, PutsPacketsInOrder) {
    RtpOrder order;
    EXPECT_EQ(pushed(order, {5, 7, 6, 6, 9, 8, 5}), (std::vector<std::uint16_t>{5, 6, 7, 8, 9}));
    EXPECT_EQ(order.counters().late, 2u);
    EXPECT_EQ(order.counters().lost, 0u);
}

TEST(RtpOrder, RestoresAnyOrderWithinTheWindowAndAcrossTheWrap) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        std::minstd_rand random(seed);
        std::vector<std::uint16_t> sequences;
        for (unsigned i = 0; i < 500; ++i)
            sequences.push_back(static_cast<std::uint16_t>(65'300 + i));
        const auto wanted = sequences;
        for (std::size_t at = 1; at + 16 < sequences.size(); at += 16)
            std::shuffle(sequences.begin() + static_cast<std::ptrdiff_t>(at),
                         sequences.begin() + static_cast<std::ptrdiff_t>(at + 16), random);
        RtpOrder order;
        EXPECT_EQ(pushed(order, sequences), wanted);
        EXPECT_EQ(order.held(), 0u);
    }
}

TEST(RtpOrder, CountsMissingPacketsAsLostWhenWindowIsFull) {
    RtpOrder order;
    std::vector<std::uint16_t> sequences = {1};
    for (std::uint16_t i = 0; i < RtpOrder::kWindow - 1; ++i)
        sequences.push_back(static_cast<std::uint16_t>(3 + i));
    EXPECT_EQ(pushed(order, sequences), std::vector<std::uint16_t>{1}) << "the window is full";
    EXPECT_EQ(order.held(), RtpOrder::kWindow - 1);
    const auto rest = pushed(order, {static_cast<std::uint16_t>(2 + RtpOrder::kWindow)});
    EXPECT_EQ(rest.size(), RtpOrder::kWindow);
    EXPECT_EQ(rest.front(), 3);
    EXPECT_EQ(order.counters().lost, 1u);
    EXPECT_EQ(pushed(order, {2}).size(), 0u);
    EXPECT_EQ(order.held(), 0u);
}

TEST(RtpOrder, RestartsOnNewSsrcOrSequenceJump) {
    RtpOrder order;
    EXPECT_EQ(pushed(order, {100, 101}).size(), 2u);
    Buffer out;
    order.push(numbered(7, 2), out);
    EXPECT_EQ(numbers_of(out), std::vector<std::uint16_t>{7});
    EXPECT_EQ(pushed(order, {8}).size(), 1u) << "the first SSRC again";
    EXPECT_EQ(pushed(order, {30'000}).size(), 0u) << "a stray";
    EXPECT_EQ(pushed(order, {9}).size(), 1u);
    EXPECT_EQ(pushed(order, {30'000, 30'001, 30'002}), std::vector<std::uint16_t>{30'002});
    EXPECT_EQ(order.counters().resets, 3u);
}

TEST(RtpOrder, AcceptsOnlyTransportStreams) {
    const Buffer packet = numbered(5);
    EXPECT_TRUE(RtpOrder::payload_of(packet).has_value());
    for (std::size_t size = 0; size < wire::rtp::kHeaderBytes; ++size) {
        RtpOrder order;
        Buffer out;
        EXPECT_FALSE(RtpOrder::payload_of(Bytes(packet).first(size)).has_value());
        order.push(Bytes(packet).first(size), out);
        EXPECT_TRUE(out.empty());
    }
    Buffer other = packet;
    other[1] = 96;
    EXPECT_FALSE(RtpOrder::payload_of(other).has_value());
    EXPECT_FALSE(RtpOrder::payload_of(hex("47 40 00 10 00 00 b0 0d 00 01 c1 00 00")).has_value());
}

}  // namespace
}  // namespace live::session::mpegts
