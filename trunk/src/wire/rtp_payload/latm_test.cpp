#include "wire/rtp_payload/latm.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/audio/latm_fixture.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

using codec::latm_test::Mux;

constexpr std::uint32_t kRate = 44'100;
constexpr std::size_t kSyncBytes = 3;

std::vector<std::uint8_t> element_of(const std::vector<std::uint8_t>& frame, const std::optional<Mux>& mux) {
    auto element = codec::latm_test::element(frame, mux);
    element.erase(element.begin(), element.begin() + kSyncBytes);
    return element;
}

// RFC 3016, 5.4: the example of 3GPP, AAC-LC, 44.1 kHz, stereo, as ffmpeg writes it.
TEST(LatmInRtp, TakesTheConfigurationOfTheDescription) {
    auto depacketizer = LatmDepacketizer::make(hex("400024203fc0"), kRate);
    ASSERT_TRUE(depacketizer.ok());
    EXPECT_EQ(depacketizer->config(), hex("1210"));
    ASSERT_TRUE(depacketizer->push({1, 5'000, true, hex("03aabbcc")}).ok());
    const auto frame = depacketizer->poll();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->data, hex("aabbcc"));
    EXPECT_EQ(frame->timestamp, 5'000U);
    EXPECT_FALSE(depacketizer->poll());
}

// GStreamer's description of AAC that ffmpeg has encoded: with the extension for SBR, and nothing behind it.
TEST(LatmInRtp, SkipsTheExtensionForSbr) {
    const auto depacketizer = LatmDepacketizer::make(hex("40002420adca00"), kRate);
    ASSERT_TRUE(depacketizer.ok());
    EXPECT_EQ(depacketizer->config(), hex("1210"));
}

TEST(LatmInRtp, ReadsConfigurationsInTheElements) {
    auto depacketizer = LatmDepacketizer::make({}, kRate);
    const auto unit = hex("2122232425");
    EXPECT_EQ(depacketizer->push({1, 0, true, element_of(unit, std::nullopt)}).code(), Errc::not_found);
    ASSERT_TRUE(depacketizer->push({2, 7, true, element_of(unit, Mux{.more_subframes = 1})}).ok());
    EXPECT_EQ(depacketizer->config(), hex("1210"));
    const auto first = depacketizer->poll();
    const auto second = depacketizer->poll();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->data, unit);
    EXPECT_EQ(second->timestamp, 7U + 1'024U);
}

TEST(LatmInRtp, JoinsPacketsAndDropsAnElementWithALoss) {
    auto depacketizer = LatmDepacketizer::make({}, kRate);
    std::mt19937 random(3);
    const auto unit = random_octets(random, 1'000);
    const auto element = element_of(unit, Mux{});
    std::uint64_t sequence = 0;
    const auto send = [&](std::size_t lost) {
        for (std::size_t at = 0, index = 0; at < element.size(); at += 300, ++index, ++sequence) {
            const Bytes part = Bytes(element).subspan(at, std::min<std::size_t>(300, element.size() - at));
            if (index != lost)
                static_cast<void>(depacketizer->push({sequence, 9, at + 300 >= element.size(), part}));
        }
    };
    send(1);
    EXPECT_FALSE(depacketizer->poll());
    send(99);
    const auto frame = depacketizer->poll();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->data, unit);
}

TEST(LatmInRtp, RefusesEveryTruncationAndHasABound) {
    const auto element = element_of(hex("2122232425"), Mux{});
    for (std::size_t size = 0; size < element.size(); ++size) {
        auto depacketizer = LatmDepacketizer::make({}, kRate);
        EXPECT_FALSE(depacketizer->push({1, 0, true, Bytes(element).first(size)}).ok()) << size;
        EXPECT_FALSE(depacketizer->poll());
    }
    const auto config = hex("400024203fc0");
    constexpr std::size_t kAudioConfigEnd = 4;  // bytes; what follows is not needed
    for (std::size_t size = 1; size < config.size(); ++size)
        EXPECT_EQ(LatmDepacketizer::make(Bytes(config).first(size), kRate).ok(), size >= kAudioConfigEnd) << size;
    auto depacketizer = LatmDepacketizer::make({}, kRate);
    const std::vector<std::uint8_t> part(40 << 10);
    EXPECT_TRUE(depacketizer->push({1, 0, false, part}).ok());
    EXPECT_EQ(depacketizer->push({2, 0, false, part}).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::rtp_payload
