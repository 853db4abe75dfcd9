#include "wire/codec/video/picture_units.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

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

struct PartCase {
    const char* name;
    Codec codec;
    std::uint8_t length_size;
    const char* units;
    PicturePart part;
};

constexpr PartCase kPartCases[] = {
    {"H.264 slice", Codec::avc, 4, "00000002 419a", PicturePart::first},
    {"H.264 IDR behind all that may come in front", Codec::avc, 4,
     "00000002 0910 00000002 6764 00000002 68eb 00000003 060101 00000002 65b8", PicturePart::first},
    {"H.264 further slice", Codec::avc, 4, "00000002 4140", PicturePart::middle},
    {"H.264 slices of one message", Codec::avc, 4, "00000002 419a 00000002 4140", PicturePart::first},
    {"H.264 slices in any order", Codec::avc, 4, "00000002 4140 00000002 419a", PicturePart::first},
    {"H.264 further slice behind a delimiter", Codec::avc, 4, "00000002 0910 00000002 4140", PicturePart::first},
    {"H.264 delimiter", Codec::avc, 4, "00000002 0910", PicturePart::front},
    {"H.264 SEI", Codec::avc, 4, "00000003 060101", PicturePart::front},
    {"H.264 parameter sets", Codec::avc, 4, "00000002 6764 00000002 68eb", PicturePart::front},
    {"H.264 filler", Codec::avc, 4, "00000003 0cff80", PicturePart::back},
    {"H.264 filler and SEI", Codec::avc, 4, "00000003 0cff80 00000003 060101", PicturePart::front},
    {"H.264 end of sequence", Codec::avc, 4, "00000001 0a", PicturePart::back},
    {"H.264 lengths of two bytes", Codec::avc, 2, "0002 4140", PicturePart::middle},
    {"H.264 unit of no type", Codec::avc, 4, "00000002 0000", PicturePart::unknown},
    {"HEVC slice", Codec::hevc, 4, "00000003 0201d0", PicturePart::first},
    {"HEVC further slice", Codec::hevc, 4, "00000003 020150", PicturePart::middle},
    {"HEVC slice of another layer", Codec::hevc, 4, "00000003 0209d0", PicturePart::middle},
    {"HEVC delimiter", Codec::hevc, 4, "00000003 460110", PicturePart::front},
    {"HEVC SEI in front", Codec::hevc, 4, "00000003 4e0101", PicturePart::front},
    {"HEVC SEI behind", Codec::hevc, 4, "00000003 500101", PicturePart::back},
    {"HEVC filler", Codec::hevc, 4, "00000003 4c0180", PicturePart::back},
    {"AV1 frame", Codec::av1, 4, "3201 30", PicturePart::first},
    {"AV1 key frame behind its sequence header", Codec::av1, 4, "1200 0a01 00 3201 10", PicturePart::first},
    {"AV1 frame that is not shown", Codec::av1, 4, "3201 20", PicturePart::front},
    {"AV1 frame that is not shown, and one that is", Codec::av1, 4, "3201 20 3201 30", PicturePart::first},
    {"AV1 earlier frame shown", Codec::av1, 4, "1a01 80", PicturePart::first},
    {"AV1 header without tiles", Codec::av1, 4, "1a01 30", PicturePart::front},
    {"AV1 header and tiles", Codec::av1, 4, "1a01 30 2201 00", PicturePart::first},
    {"AV1 tiles", Codec::av1, 4, "2201 00", PicturePart::middle},
    {"AV1 sequence header", Codec::av1, 4, "0a01 00", PicturePart::front},
    {"AV1 padding", Codec::av1, 4, "7a01 80", PicturePart::back},
    {"AV1 cut", Codec::av1, 4, "3205 30", PicturePart::unknown},
    {"nothing", Codec::avc, 4, "", PicturePart::unknown},
    {"an empty unit", Codec::avc, 4, "00000000", PicturePart::unknown},
    {"a cut unit", Codec::avc, 4, "00000003 4140", PicturePart::unknown},
    {"a cut length", Codec::hevc, 4, "0000", PicturePart::unknown},
    {"another codec", Codec::vp9, 4, "00000002 419a", PicturePart::unknown},
};

TEST(PictureUnits, ReportsThePartOfAFrame) {
    for (const PartCase& wanted : kPartCases)
        EXPECT_EQ(picture_part_of(wanted.codec, wanted.length_size, hex(wanted.units)), wanted.part) << wanted.name;
}

TEST(PictureUnits, ReadsEveryTruncation) {
    for (const PartCase& wanted : kPartCases) {
        const auto units = hex(wanted.units);
        for (std::size_t size = 0; size < units.size(); ++size) {
            static_cast<void>(picture_part_of(wanted.codec, wanted.length_size, Bytes(units).first(size)));
            static_cast<void>(is_random_access(wanted.codec, wanted.length_size, Bytes(units).first(size)));
        }
    }
}

}  // namespace
}  // namespace live::wire::codec
