#include "wire/rtp_payload/aac.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

constexpr std::uint32_t kTicks = 1'024;

std::vector<Frame> taken(AacDepacketizer& depacketizer) {
    std::vector<Frame> frames;
    while (auto frame = depacketizer.poll())
        frames.push_back(*std::move(frame));
    return frames;
}

TEST(AacInRtp, ReadsSeveralUnitsOfOnePacket) {
    AacDepacketizer depacketizer({}, kTicks);
    // Two sizes of 13 bits with indexes of 3 bits: 3 and 2 bytes.
    ASSERT_TRUE(depacketizer.push({1, 5'000, true, hex("0020 0018 0010 aabbcc ddee")}).ok());
    const auto frames = taken(depacketizer);
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[0].data, hex("aabbcc"));
    EXPECT_EQ(frames[0].timestamp, 5'000U);
    EXPECT_EQ(frames[1].data, hex("ddee"));
    EXPECT_EQ(frames[1].timestamp, 5'000U + kTicks);
}

TEST(AacInRtp, ReadsLowBitRateMode) {
    AacDepacketizer depacketizer({6, 2, 2}, kTicks);
    ASSERT_TRUE(depacketizer.push({1, 0, true, hex("0010 08 04 aabb cc")}).ok());
    EXPECT_EQ(taken(depacketizer).size(), 2U);
}

TEST(AacInRtp, RefusesEveryTruncationButThoseInsideOfTheOnlyUnit) {
    const auto payload = hex("0020 0018 0010 aabbcc ddee");
    for (std::size_t size = 0; size < payload.size(); ++size) {
        AacDepacketizer depacketizer({}, kTicks);
        EXPECT_FALSE(depacketizer.push({1, 0, true, Bytes(payload).first(size)}).ok()) << size;
    }
}

TEST(AacInRtp, ReadsWhatItWrites) {
    std::mt19937 random(7);
    AacDepacketizer depacketizer({}, kTicks);
    std::uint64_t sequence = 1;
    for (const std::size_t size : {1U, 100U, 1'196U, 1'197U, 5'000U, 8'191U}) {
        const auto unit = random_octets(random, size);
        PayloadList payloads;
        ASSERT_TRUE(packetize_aac(unit, 1'200, payloads).ok());
        EXPECT_EQ(payloads.size(), (size + 1'195) / 1'196);
        for (std::size_t i = 0; i < payloads.size(); ++i)
            ASSERT_TRUE(depacketizer.push({sequence++, 77, i + 1 == payloads.size(), payloads[i]}).ok());
        const auto frames = taken(depacketizer);
        ASSERT_EQ(frames.size(), 1U) << size;
        EXPECT_EQ(frames[0].data, unit);
        EXPECT_EQ(frames[0].timestamp, 77U);
    }
    PayloadList none;
    EXPECT_EQ(packetize_aac(random_octets(random, 8'192), 1'200, none).code(), Errc::limit);
}

TEST(AacInRtp, DropsAUnitOfWhichAPartIsLost) {
    std::mt19937 random(8);
    PayloadList payloads;
    ASSERT_TRUE(packetize_aac(random_octets(random, 5'000), 1'200, payloads).ok());
    AacDepacketizer depacketizer({}, kTicks);
    for (const std::size_t i : {0U, 1U, 3U, 4U})
        ASSERT_TRUE(depacketizer.push({i, 0, false, payloads[i]}).ok());
    EXPECT_TRUE(taken(depacketizer).empty());
    PayloadList next;
    ASSERT_TRUE(packetize_aac(random_octets(random, 10), 1'200, next).ok());
    ASSERT_TRUE(depacketizer.push({payloads.size(), 0, true, next[0]}).ok());
    EXPECT_EQ(taken(depacketizer).size(), 1U);
}

TEST(AacInRtp, HasABoundForUnits) {
    std::vector<std::uint8_t> payload = {0, 0};
    const std::size_t bits = (AacDepacketizer::kUnitsMax + 1) * 16;
    payload[0] = static_cast<std::uint8_t>(bits >> 8);
    payload[1] = static_cast<std::uint8_t>(bits);
    payload.resize(2 + bits / 8);
    AacDepacketizer depacketizer({}, kTicks);
    EXPECT_EQ(depacketizer.push({1, 0, true, payload}).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::rtp_payload
