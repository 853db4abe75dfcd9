#include "wire/codec/audio/opus.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

const auto kStereo = hex("4f70757348656164 01 02 3801 80bb0000 0000 00");
const auto kSurround = hex("4f70757348656164 01 06 3801 80bb0000 00ff 01 04 02 000401020503");

TEST(OpusHead, ReadsStereo) {
    const auto head = parse_opus_head(kStereo);
    ASSERT_TRUE(head.ok()) << head.error().text();
    EXPECT_EQ(head->channels, 2);
    EXPECT_EQ(head->pre_skip, 312);
    EXPECT_EQ(head->input_rate, 48'000u);
    EXPECT_EQ(head->streams, 1);
    EXPECT_EQ(head->coupled, 1);
    EXPECT_TRUE(head->mapping.empty());
}

TEST(OpusHead, ReadsSurround) {
    const auto head = parse_opus_head(kSurround);
    ASSERT_TRUE(head.ok()) << head.error().text();
    EXPECT_EQ(head->channels, 6);
    EXPECT_EQ(head->gain, -256);
    EXPECT_EQ(head->streams, 4);
    EXPECT_EQ(head->coupled, 2);
    EXPECT_EQ(head->mapping.size(), 6u);
}

TEST(OpusHead, RoundTrips) {
    for (const auto& bytes : {kStereo, kSurround}) {
        ByteWriter out;
        write_opus_head(out, parse_opus_head(bytes).value());
        EXPECT_EQ(out.release(), bytes);
    }
}

TEST(OpusHead, EveryTruncationNeedsMore) {
    for (const auto& bytes : {kStereo, kSurround})
        for (std::size_t size = 0; size < bytes.size(); ++size)
            EXPECT_EQ(parse_opus_head(Bytes(bytes).first(size)).code(), Errc::need_more) << size;
}

TEST(OpusHead, RefusesForbiddenValues) {
    const auto with = [](std::size_t at, std::uint8_t value) {
        auto bytes = kSurround;
        bytes[at] = value;
        return parse_opus_head(bytes).code();
    };
    EXPECT_EQ(with(0, 'o'), Errc::malformed);
    EXPECT_EQ(with(8, 16), Errc::unsupported) << "major version";
    EXPECT_EQ(with(9, 0), Errc::malformed) << "no channel";
    EXPECT_EQ(with(18, 0), Errc::malformed) << "family 0 with six channels";
    EXPECT_EQ(with(19, 0), Errc::malformed) << "no stream";
    EXPECT_EQ(with(20, 5), Errc::malformed) << "more coupled streams than streams";
}

TEST(OpusHead, IsMadeForAnyLayoutOfVorbis) {
    for (unsigned channels = 1; channels <= 8; ++channels) {
        const auto made = make_opus_head(channels);
        ASSERT_TRUE(made.ok());
        const auto head = parse_opus_head(*made).value();
        EXPECT_EQ(head.channels, channels);
        EXPECT_EQ(head.mapping_family, channels > 2 ? 1 : 0);
        EXPECT_EQ(head.streams + head.coupled, static_cast<int>(channels)) << "each channel is decoded once";
    }
    EXPECT_EQ(make_opus_head(0).code(), Errc::unsupported);
    EXPECT_EQ(make_opus_head(9).code(), Errc::unsupported);
}

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

}  // namespace
}  // namespace live::wire::codec
