#include "media/ring/ring.hpp"

#include <deque>
#include <random>

#include <gtest/gtest.h>

#include "media/ring/packet_fixture.hpp"

namespace live::media {
namespace {

Packet numbered(Sequence number, std::size_t bytes = 4) {
    return plain_packet(MediaKind::video, false, false, std::chrono::milliseconds(number), Slice::allocate(bytes));
}

TEST(Ring, HoldsAppendedPacketsUntilDropped) {
    std::mt19937 random(1);
    Ring ring;
    std::deque<std::size_t> sizes;
    for (int i = 0; i < 1'000; ++i) {
        const std::size_t most = 1 + random() % (i % 200 < 100 ? 1'000 : 10);  // it grows and shrinks
        if (random() % 2 == 0 || sizes.size() < most / 2) {
            for (std::size_t k = random() % 100; k > 0; --k) {
                sizes.push_back(random() % 50);
                ring.append(numbered(ring.next(), sizes.back()));
            }
        } else {
            const std::size_t count = std::min(sizes.size(), random() % most);
            sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count));
            ring.drop_before(ring.first() + count);
        }
        ASSERT_EQ(ring.size(), sizes.size());
        std::size_t bytes = 0;
        for (std::size_t k = 0; k < sizes.size(); ++k) {
            const Packet& packet = ring.at(ring.first() + k);
            ASSERT_EQ(packet.payload.size(), sizes[k]);
            ASSERT_EQ(packet.dts, std::chrono::milliseconds(ring.first() + k));
            bytes += sizes[k];
        }
        ASSERT_EQ(ring.bytes(), bytes);
    }
}

TEST(Ring, MemoryFollowsNumberOfPackets) {
    Ring ring;
    for (Sequence i = 0; i < 100'000; ++i)
        ring.append(numbered(i));
    EXPECT_GE(ring.capacity(), 100'000U);
    EXPECT_LE(ring.capacity(), 100'000U + 2 * Ring::kChunkPackets);
    ring.drop_before(99'990);
    EXPECT_LE(ring.capacity(), 3 * Ring::kChunkPackets);
    ring.drop_before(100'000);
    EXPECT_LE(ring.capacity(), 2 * Ring::kChunkPackets);
    EXPECT_EQ(ring.find_time({}), ring.next());
}

// One allocation per chunk would be felt by every stream.
TEST(Ring, AFewPacketsAtATimeReuseTheirMemory) {
    Ring ring;
    for (Sequence i = 0; i < 10'000; ++i) {
        ring.append(numbered(i));
        ring.drop_before(i > 10 ? i - 10 : 0);
        ASSERT_LE(ring.capacity(), 3 * Ring::kChunkPackets);
    }
}

}  // namespace
}  // namespace live::media
