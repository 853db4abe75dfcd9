#include "wire/codec/picture_units.hpp"

#include <gtest/gtest.h>

#include "base/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

struct UnitsCase {
    const char* name;
    Codec codec;
    std::uint8_t length_size;
    const char* frame;
    bool is_random_access;
};

constexpr UnitsCase kUnitsCases[] = {
    {"H.264 IDR", Codec::avc, 4, "00000002 65b8", true},
    {"H.264 IDR behind a delimiter and SEI", Codec::avc, 4, "00000002 0910 00000003 060101 00000002 65b8", true},
    {"H.264 IDR, lengths of two bytes", Codec::avc, 2, "0002 65b8", true},
    {"H.264 inter", Codec::avc, 4, "00000002 419a", false},
    {"H.264 parameter sets alone", Codec::avc, 4, "00000002 6764 00000002 68eb", false},
    {"HEVC IDR_W_RADL", Codec::hevc, 4, "00000003 2601af", true},
    {"HEVC CRA", Codec::hevc, 4, "00000003 2a01af", true},
    {"HEVC TRAIL_R", Codec::hevc, 4, "00000003 0201d0", false},
    {"an empty unit", Codec::hevc, 4, "00000000 00000003 2601af", true},
    {"AV1 with a sequence header", Codec::av1, 4, "0a01 00 3201 10", true},
    {"AV1 frame", Codec::av1, 4, "3201 30", false},
    {"VP8 key frame", Codec::vp8, 4, "10", true},
    {"VP8 inter", Codec::vp8, 4, "11", false},
    {"VP9 inter", Codec::vp9, 4, "86", false},
    {"nothing", Codec::avc, 4, "", false},
    {"a cut length", Codec::avc, 4, "000000", false},
    {"a cut unit", Codec::avc, 4, "00000003 65b8", false},
    {"another codec", Codec::unknown, 4, "00000002 65b8", false},
};

TEST(PictureUnits, FindsRandomAccess) {
    for (const UnitsCase& wanted : kUnitsCases)
        EXPECT_EQ(is_random_access(wanted.codec, wanted.length_size, hex(wanted.frame)), wanted.is_random_access) << wanted.name;
}

}  // namespace
}  // namespace live::wire::codec
