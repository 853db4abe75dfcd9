#include "wire/ts/read/packet_sync.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace live::wire::ts {
namespace {

using Packets = std::vector<std::vector<std::uint8_t>>;

std::vector<std::uint8_t> numbered(std::size_t number) {
    std::vector<std::uint8_t> packet(188, static_cast<std::uint8_t>(number % 64));
    packet[0] = 0x47;
    return packet;
}

std::vector<std::uint8_t> stream_of(std::size_t count, std::size_t before, std::size_t behind) {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < count; ++i) {
        bytes.insert(bytes.end(), before, 0x11);
        const auto packet = numbered(i);
        bytes.insert(bytes.end(), packet.begin(), packet.end());
        bytes.insert(bytes.end(), behind, 0x22);
    }
    return bytes;
}

Packets packets_of(PacketSync& sync, Bytes input, std::size_t piece) {
    Packets packets;
    const auto take = [&] {
        while (const auto packet = sync.next())
            packets.emplace_back(packet->begin(), packet->end());
    };
    while (!input.empty()) {
        const std::size_t taken = sync.feed(input.first(std::min(piece, input.size())));
        EXPECT_GT(taken, 0u);
        input = input.subspan(taken);
        take();
    }
    sync.finish();
    take();
    return packets;
}

// With the packets that need no copy taken out of the input.
Packets packets_taken_of(PacketSync& sync, Bytes input, std::mt19937& random) {
    Packets packets;
    const auto take = [&] {
        while (const auto packet = sync.next())
            packets.emplace_back(packet->begin(), packet->end());
    };
    while (!input.empty()) {
        Bytes piece = input.first(std::min<std::size_t>(random() % 3 == 0 ? 1 + random() % 400 : 1'316, input.size()));
        input = input.subspan(piece.size());
        while (!piece.empty()) {
            const Bytes whole = sync.take_whole(piece);
            for (std::size_t at = 0; at < whole.size(); at += 188)
                packets.emplace_back(whole.begin() + static_cast<std::ptrdiff_t>(at),
                                     whole.begin() + static_cast<std::ptrdiff_t>(at + 188));
            piece = piece.subspan(sync.feed(piece));
            take();
        }
    }
    sync.finish();
    take();
    return packets;
}

TEST(PacketSync, PacketsTakenWithoutACopyAreThoseThatAreCopied) {
    std::mt19937 random(2);
    for (int round = 0; round < 400; ++round) {
        std::vector<std::uint8_t> stream;
        for (int part = 0; part < 4; ++part) {
            const std::pair<std::size_t, std::size_t> forms[] = {{0, 0}, {0, 0}, {4, 0}, {0, 16}};
            const auto& [before, behind] = forms[random() % 4];
            const auto packets = stream_of(random() % 30, before, behind);
            stream.insert(stream.end(), packets.begin(), packets.end());
            for (std::size_t left = random() % 2 == 0 ? 0 : random() % 250; left > 0; --left)
                stream.push_back(static_cast<std::uint8_t>(random() % 4 == 0 ? 0x47 : random()));
        }
        PacketSync copying;
        PacketSync taking;
        EXPECT_EQ(packets_taken_of(taking, stream, random), packets_of(copying, stream, 1'316)) << "round " << round;
        EXPECT_EQ(taking.skipped_bytes(), copying.skipped_bytes()) << "round " << round;
        EXPECT_EQ(taking.resyncs(), copying.resyncs()) << "round " << round;
    }
}

TEST(PacketSync, FindsPacketsOfAllSizesInPiecesOfAnySize) {
    const std::pair<std::size_t, std::size_t> forms[] = {{0, 0}, {4, 0}, {0, 16}};
    for (const auto& [before, behind] : forms)
        for (const std::size_t piece : {1U, 7U, 187U, 188U, 1'316U, 20'000U}) {
            PacketSync sync;
            const auto packets = packets_of(sync, stream_of(100, before, behind), piece);
            ASSERT_EQ(packets.size(), 100u) << before << " " << behind << " " << piece;
            for (std::size_t i = 0; i < packets.size(); ++i)
                ASSERT_EQ(packets[i], numbered(i));
            EXPECT_EQ(sync.stride(), 188 + before + behind);
            EXPECT_EQ(sync.resyncs(), 0u);
            EXPECT_EQ(sync.skipped_bytes(), before);
        }
}

TEST(PacketSync, FindsThemAgainAfterGarbage) {
    std::minstd_rand random(1);
    for (int round = 0; round < 50; ++round) {
        auto bytes = stream_of(20, 0, 0);
        std::vector<std::uint8_t> garbage(random() % 1'500 + 1);
        for (auto& byte : garbage)
            byte = static_cast<std::uint8_t>(random() % 0x47);  // never a sync byte: the count is exact
        bytes.insert(bytes.begin() + 10 * 188, garbage.begin(), garbage.end());
        PacketSync sync;
        ASSERT_EQ(packets_of(sync, bytes, 1'316).size(), 20u);
        EXPECT_EQ(sync.skipped_bytes(), garbage.size());
        EXPECT_EQ(sync.resyncs(), 1u);
    }
}

TEST(PacketSync, BelievesNoSingleSyncByte) {
    std::vector<std::uint8_t> bytes(2'000, 0);
    bytes[300] = bytes[488] = 0x47;  // two in a row
    PacketSync sync;
    EXPECT_TRUE(packets_of(sync, bytes, 188).empty());
    EXPECT_EQ(sync.skipped_bytes(), bytes.size());
}

TEST(PacketSync, AFewPacketsAreBelievedAtTheEnd) {
    for (std::size_t count = 1; count < 5; ++count) {
        PacketSync sync;
        EXPECT_EQ(packets_of(sync, stream_of(count, 0, 0), 64).size(), count);
    }
}

TEST(PacketSync, OnlyWholePacketsComeOut) {
    const auto bytes = stream_of(5, 0, 0);
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        PacketSync sync;
        EXPECT_EQ(packets_of(sync, Bytes(bytes).first(size), 50).size(), size / 188);
    }
}

}  // namespace
}  // namespace live::wire::ts
