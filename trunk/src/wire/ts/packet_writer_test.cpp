#include "wire/ts/packet_writer.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::ts {
namespace {

std::vector<std::uint8_t> counting(std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    return bytes;
}

std::vector<std::uint8_t> front(const std::vector<std::uint8_t>& bytes, std::size_t count) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)};
}

// The payload of all packets; reports malformed ones.
std::vector<std::uint8_t> payload_of(Bytes packets) {
    std::vector<std::uint8_t> payload;
    for (; packets.size() >= kPacketBytes; packets = packets.subspan(kPacketBytes)) {
        const std::size_t field = (packets[3] & 0x20) != 0 ? 1U + packets[4] : 0;
        const Bytes part = packets.subspan(kPacketHeaderBytes + field, kPacketPayloadBytes - field);
        payload.insert(payload.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(packets.empty());
    return payload;
}

TEST(PacketWriter, ReassemblesEverySize) {
    for (const bool with_clock : {false, true})
        for (std::size_t size = 1; size <= 3 * kPacketPayloadBytes; ++size) {
            const auto bytes = counting(size);
            PacketWriter writer(Pid::video);
            std::vector<std::uint8_t> out;
            PacketWriter::Start start;
            if (with_clock)
                start = {.clock = 1s, .random_access = true};
            writer.write_unit(start, std::array{Bytes(bytes).first(size / 3), Bytes(), Bytes(bytes).subspan(size / 3)}, out);
            const std::size_t wanted = (size + (with_clock ? 8 : 0) + kPacketPayloadBytes - 1) / kPacketPayloadBytes;
            ASSERT_EQ(out.size(), wanted * kPacketBytes) << size;
            ASSERT_EQ(payload_of(out), bytes) << size;
        }
}

TEST(PacketWriter, WritesTheSameInPieces) {
    for (const std::size_t size : {1UL, 175UL, 176UL, 177UL, 184UL, 5'000UL, 100'000UL})
        for (const std::size_t packets : {1UL, 2UL, 7UL, 1'000UL}) {
            const auto bytes = counting(size);
            const std::array parts{Bytes(bytes).first(size / 2), Bytes(bytes).subspan(size / 2)};
            const PacketWriter::Start start{.clock = 1s, .random_access = true};
            PacketWriter at_once(Pid::video);
            PacketWriter in_pieces(Pid::video);
            std::vector<std::uint8_t> whole;
            at_once.write_unit(start, parts, whole);
            std::vector<std::uint8_t> out;
            PacketWriter::Unit unit(start, parts);
            in_pieces.write_some(unit, 1, out);
            EXPECT_EQ(out.size() + unit.packets_left() * kPacketBytes, whole.size()) << size;
            while (!unit.is_done()) {
                const std::size_t before = out.size();
                in_pieces.write_some(unit, packets, out);
                ASSERT_LE(out.size() - before, packets * kPacketBytes);
            }
            ASSERT_EQ(out, whole) << size << " in pieces of " << packets;
            EXPECT_EQ(in_pieces.counter(), at_once.counter());
        }
}

TEST(PacketWriter, StuffsInTheAdaptationField) {
    struct PacketCase {
        std::size_t payload;
        PacketWriter::Start start;
        std::vector<std::uint8_t> wanted;  // expected start of the packet
    };
    const PacketCase cases[] = {
        {184, {}, hex("47 41 00 10 00")},
        {183, {}, hex("47 41 00 30 00 00 01")},     // one byte: a field of length 0
        {182, {}, hex("47 41 00 30 01 00 00 01")},  // two: length and flags
        {181, {}, hex("47 41 00 30 02 00 ff 00 01")},
        {182, {.clock = {}, .random_access = true}, hex("47 41 00 30 01 40 00 01")},
        {181, {.clock = {}, .random_access = true}, hex("47 41 00 30 02 40 ff 00 01")},
        {176, {.clock = 1s, .random_access = false}, hex("47 41 00 30 07 10 0000afc87e00 00 01")},
        {175, {.clock = 1s, .random_access = true}, hex("47 41 00 30 08 50 0000afc87e00 ff 00 01")},
    };
    for (const PacketCase& wanted : cases) {
        const auto bytes = counting(wanted.payload);
        PacketWriter writer(Pid::video);
        std::vector<std::uint8_t> out;
        writer.write_unit(wanted.start, std::array{Bytes(bytes)}, out);
        ASSERT_EQ(out.size(), kPacketBytes) << wanted.payload;
        EXPECT_EQ(front(out, wanted.wanted.size()), wanted.wanted) << wanted.payload;
        EXPECT_EQ(payload_of(out), bytes);
    }
}

TEST(PacketWriter, CountsPacketsWithPayloadModulo16) {
    const auto bytes = counting(20 * kPacketPayloadBytes);
    PacketWriter writer(Pid::audio);
    std::vector<std::uint8_t> out;
    writer.write_unit({}, std::array{Bytes(bytes)}, out);
    writer.write_clock(1s, out);
    writer.write_section(hex("00"), out);
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(out[i * kPacketBytes + 3] & 0x0F, i % 16);
        EXPECT_EQ(out[i * kPacketBytes + 1], i == 0 ? 0x41 : 0x01) << "only the first begins a unit";
    }
    EXPECT_EQ(out[20 * kPacketBytes + 3], 0x20 | 3) << "no payload: the counter of the packet before";
    EXPECT_EQ(out[21 * kPacketBytes + 3], 0x10 | 4);
}

TEST(PacketWriter, AClockNeedsAPacketOfItsOwnSometimes) {
    const PacketWriter writer(Pid::video);
    std::vector<std::uint8_t> out;
    writer.write_clock(1s + 1us, out);
    ASSERT_EQ(out.size(), kPacketBytes);
    EXPECT_EQ(front(out, 13), hex("47 01 00 2f b7 10 0000afc87e1b ff"));
}

TEST(PacketWriter, ASectionFitsOnePacket) {
    const auto most = counting(kPacketPayloadBytes - 1);
    PacketWriter writer(Pid::pmt);
    std::vector<std::uint8_t> out;
    writer.write_section(most, out);
    ASSERT_EQ(out.size(), kPacketBytes);
    EXPECT_EQ(front(out, 7), hex("47 50 01 10 00 00 01"));
    writer.write_section(hex("aabb"), out);
    EXPECT_EQ(front({out.begin() + kPacketBytes, out.end()}, 9), hex("47 50 01 11 00 aa bb ff ff"));
}

TEST(PacketWriterDeathTest, ALongerSectionAborts) {
    PacketWriter writer(Pid::pmt);
    std::vector<std::uint8_t> out;
    EXPECT_DEATH(writer.write_section(counting(kPacketPayloadBytes), out), "CHECK failed");
}

}  // namespace
}  // namespace live::wire::ts
