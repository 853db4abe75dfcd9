#include "media/ingest/framed_aac.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/audio/adts.hpp"
#include "wire/codec/audio/latm_fixture.hpp"

namespace live::media {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets adts_of(const Octets& raw, std::uint32_t rate = 44'100, std::uint8_t channels = 2) {
    const auto header = wire::codec::adts_header({.sample_rate = rate, .channels = channels}, raw.size()).value();
    Octets out(header.begin(), header.end());
    out.insert(out.end(), raw.begin(), raw.end());
    return out;
}

Octets joined(Octets first, const Octets& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

const Octets kRaw = hex("211004");

TEST(FramedAac, SplitsAdtsIntoFramesAndAConfiguration) {
    FramedAac framed;
    const auto frames = framed.read(TrackId(2), joined(adts_of(kRaw), adts_of(hex("2122"))));
    ASSERT_TRUE(frames);
    EXPECT_EQ(frames->config, hex("1210"));
    ASSERT_EQ(frames->raw.size(), 2U);
    EXPECT_TRUE(std::ranges::equal(frames->raw[0].bytes(), kRaw));
    EXPECT_TRUE(std::ranges::equal(frames->raw[1].bytes(), hex("2122")));
    EXPECT_TRUE(framed.has_come(TrackId(2)) && !framed.has_come(TrackId(0)));
}

TEST(FramedAac, SplitsLatmWithOneConfiguration) {
    using wire::codec::latm_test::element;
    FramedAac framed;
    const auto before = framed.read({}, element(kRaw, {}));
    ASSERT_TRUE(before);
    EXPECT_TRUE(before->raw.empty() && before->config.empty());
    ASSERT_TRUE(framed.read({}, element(kRaw, wire::codec::latm_test::Mux{})));
    const auto frames = framed.read({}, joined(element(kRaw, {}), element(kRaw, {})));
    ASSERT_TRUE(frames);
    EXPECT_EQ(frames->config, hex("1210"));
    ASSERT_EQ(frames->raw.size(), 2U);
    EXPECT_TRUE(std::ranges::equal(frames->raw[1].bytes(), kRaw));
    EXPECT_TRUE(framed.read(TrackId(1), element(kRaw, {}))->config.empty()) << "each track has its own";
}

TEST(FramedAac, LeavesRawFramesAndCutOnesAlone) {
    FramedAac framed;
    EXPECT_FALSE(framed.read({}, {}));
    EXPECT_FALSE(framed.read({}, kRaw));
    const Octets adts = adts_of(kRaw);
    const Octets latm = wire::codec::latm_test::element(kRaw, wire::codec::latm_test::Mux{});
    for (const Octets& whole : {adts, latm})
        for (std::size_t size = 0; size < whole.size(); ++size)
            EXPECT_FALSE(framed.read({}, Bytes(whole).first(size))) << size;
    EXPECT_FALSE(framed.has_come({}));
    EXPECT_EQ(framed.read({}, joined(adts, hex("fff150")))->raw.size(), 1U) << "what is behind it is dropped";
}

TEST(FramedAac, TakesABoundedNumberOfFrames) {
    Octets many;
    for (std::size_t i = 0; i < 3 * FramedAac::kFramesMax; ++i)
        many = joined(std::move(many), adts_of(hex("21")));
    FramedAac framed;
    EXPECT_EQ(framed.read({}, many)->raw.size(), FramedAac::kFramesMax);
}

TEST(FramedAac, MakesNoConfigurationOfChannelsThatTheFramesSay) {
    Octets adts = adts_of(kRaw);
    adts[2] &= 0xFE;
    adts[3] &= 0x3F;  // channel_configuration 0
    FramedAac framed;
    const auto frames = framed.read({}, adts);
    ASSERT_TRUE(frames);
    EXPECT_TRUE(frames->config.empty());
    EXPECT_EQ(frames->raw.size(), 1U);
}

}  // namespace
}  // namespace live::media
