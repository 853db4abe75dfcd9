#include "wire/codec/audio/ac3.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

TEST(Ac3, ReadsFrameHeaders) {
    // ffmpeg -f lavfi -i sine -c:a ac3 -b:a 192k x.ac3, at 48,000 and 44,100 Hz; the latter alternates between two sizes.
    EXPECT_EQ(parse_ac3_header(hex("0b77 1234 14 40")).value(), (Ac3Header{48'000, 1'536, 768, false, false}));
    EXPECT_EQ(parse_ac3_header(hex("0b77 1234 54 40")).value(), (Ac3Header{44'100, 1'536, 834, false, false}));
    EXPECT_EQ(parse_ac3_header(hex("0b77 1234 55 40")).value(), (Ac3Header{44'100, 1'536, 836, false, false}));
}

TEST(Ac3, ReadsEnhancedHeaders) {
    // Independent substream 0, 384 words, 48 kHz, six blocks, stream id 16.
    EXPECT_EQ(parse_ac3_header(hex("0b77 017f 3f 80")).value(), (Ac3Header{48'000, 1'536, 768, true, false}));
    EXPECT_TRUE(parse_ac3_header(hex("0b77 417f 3f 80"))->continues) << "a dependent one";
    EXPECT_EQ(parse_ac3_header(hex("0b77 017f c0 80")).value(), (Ac3Header{24'000, 1'536, 768, true, false}));
}

TEST(Ac3, RefusesOtherBytes) {
    const auto header = hex("0b77 1234 14 40");
    for (std::size_t size = 0; size < header.size(); ++size)
        EXPECT_EQ(parse_ac3_header(Bytes(header).first(size)).code(), Errc::need_more);
    EXPECT_EQ(parse_ac3_header(hex("770b 1234 14 40")).code(), Errc::malformed);
    EXPECT_EQ(parse_ac3_header(hex("0b77 1234 d4 40")).code(), Errc::malformed) << "sample rate";
    EXPECT_EQ(parse_ac3_header(hex("0b77 1234 26 40")).code(), Errc::malformed) << "frame size";
    EXPECT_EQ(parse_ac3_header(hex("0b77 1234 14 88")).code(), Errc::unsupported) << "stream id 17";
}

}  // namespace
}  // namespace live::wire::codec
