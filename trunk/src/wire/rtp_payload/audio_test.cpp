#include "wire/rtp_payload/audio.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

TEST(OpusPacket, HasTheDurationOfTheTable) {
    EXPECT_EQ(opus_samples(hex("fc")).value(), 960U) << "CELT, 20 ms, as browsers send it";
    EXPECT_EQ(opus_samples(hex("e0")).value(), 120U) << "2.5 ms";
    EXPECT_EQ(opus_samples(hex("08")).value(), 960U) << "SILK, 20 ms";
    EXPECT_EQ(opus_samples(hex("18")).value(), 2'880U) << "SILK, 60 ms";
    EXPECT_EQ(opus_samples(hex("19")).value(), 5'760U) << "two of them";
    EXPECT_EQ(opus_samples(hex("60")).value(), 480U) << "hybrid, 10 ms";
    EXPECT_EQ(opus_samples(hex("68")).value(), 960U);
    EXPECT_EQ(opus_samples(hex("fb06")).value(), 5'760U) << "six frames";
    EXPECT_EQ(opus_samples(hex("fb07")).code(), Errc::malformed) << "140 ms";
    EXPECT_EQ(opus_samples(hex("fb00")).code(), Errc::malformed) << "no frame";
    EXPECT_EQ(opus_samples({}).code(), Errc::need_more);
    EXPECT_EQ(opus_samples(hex("fb")).code(), Errc::need_more);
}

TEST(G711, IsCutInto20Milliseconds) {
    const std::vector<std::uint8_t> samples(161, 0xD5);
    PayloadList out;
    packetize_g711(Bytes(samples).first(160), out);
    EXPECT_EQ(out.size(), 1U);
    packetize_g711(samples, out);
    ASSERT_EQ(out.size(), 3U);
    EXPECT_EQ(out[1].size(), 160U);
    EXPECT_EQ(out[2].size(), 1U);
    packetize_g711({}, out);
    EXPECT_EQ(out.size(), 3U);
}

}  // namespace
}  // namespace live::wire::rtp_payload
