#include "wire/codec/video/avc.hpp"

#include <gtest/gtest.h>

#include "wire/codec/codec_vectors.hpp"

namespace live::wire::codec {
namespace {

TEST(AvcConfig, ReadsEveryVectorAndItsFrameSize) {
    for (const PictureVector& vector : avc_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto config = parse_avc_config(vector.record);
        ASSERT_TRUE(config.ok()) << config.error().text();
        EXPECT_EQ(config->profile, vector.profile);
        EXPECT_EQ(config->level, vector.level);
        EXPECT_EQ(config->nal_length_size, 4);
        ASSERT_EQ(config->sps.size(), 1u);
        ASSERT_EQ(config->pps.size(), 1u);
        const auto sps = parse_avc_sps(config->sps[0]);
        ASSERT_TRUE(sps.ok()) << sps.error().text();
        EXPECT_EQ(sps->width, vector.width);
        EXPECT_EQ(sps->height, vector.height);
        EXPECT_EQ(sps->profile, vector.profile);
        EXPECT_EQ(sps->level, vector.level);
        ASSERT_TRUE(sps->frames_per_second.has_value());
        EXPECT_NEAR(*sps->frames_per_second, vector.frames_per_second, 1e-6);
    }
}

TEST(AvcConfig, RoundTrips) {
    for (const PictureVector& vector : avc_vectors()) {
        ByteWriter out;
        write_avc_config(out, parse_avc_config(vector.record).value());
        EXPECT_EQ(out.release(), vector.record) << vector.name;
    }
}

TEST(AvcConfig, EveryTruncationNeedsMoreUntilTheExtension) {
    for (const PictureVector& vector : avc_vectors()) {
        const std::size_t needed = vector.record.size() - parse_avc_config(vector.record)->extension.size();
        for (std::size_t size = 0; size < needed; ++size)
            EXPECT_EQ(parse_avc_config(Bytes(vector.record).first(size)).code(), Errc::need_more)
                << vector.name << " cut at " << size;
        EXPECT_TRUE(parse_avc_config(Bytes(vector.record).first(needed)).ok());
    }
}

TEST(AvcConfig, RefusesOtherVersionsAndThreeByteLengths) {
    auto record = avc_vectors()[0].record;
    record[0] = 2;
    EXPECT_EQ(parse_avc_config(record).code(), Errc::unsupported);
    record[0] = 1;
    record[4] = 0xFE;
    EXPECT_EQ(parse_avc_config(record).code(), Errc::malformed);
    record[4] = 0xFC;
    EXPECT_EQ(parse_avc_config(record)->nal_length_size, 1);
}

TEST(AvcSps, HasItsFrameSizeWithTruncatedVui) {
    const Bytes sps = parse_avc_config(avc_vectors()[0].record)->sps[0];
    bool seen_without_rate = false;
    for (std::size_t size = 0; size < sps.size(); ++size) {
        const auto info = parse_avc_sps(sps.first(size));
        if (!info.ok()) {
            EXPECT_EQ(info.code(), Errc::need_more) << size;
            continue;
        }
        EXPECT_EQ(info->width, 1280u);
        seen_without_rate |= !info->frames_per_second.has_value();
    }
    EXPECT_TRUE(seen_without_rate);
}

// By libx264 5.1 for an input whose times are milliseconds.
TEST(AvcSps, AResolutionOfTimesIsNoFrameRate) {
    const auto info = parse_avc_sps(hex("6742c015da06c7f93ffc0a0009fc4000000300400001f403c58ba8"));
    ASSERT_TRUE(info.ok());
    EXPECT_EQ(info->height, 240u);
    EXPECT_FALSE(info->frames_per_second.has_value());
}

TEST(AvcSps, RefusesOtherNalUnitsAndNonsense) {
    EXPECT_EQ(parse_avc_sps(hex("68 ebe3cb22c0")).code(), Errc::malformed);
    // Profile 66, level 30, then set id 0, frame number 0, picture order type 3.
    EXPECT_EQ(parse_avc_sps(hex("67 42001e c8 000000")).code(), Errc::malformed);
}

TEST(AvcSps, RefusesACropOfTheWholeFrame) {
    // Baseline, order type 2, one reference, 1x1 macroblocks, frames only, crop of 8 + 0 units of two samples.
    // Bits: 1 1 011 010 0 1 1 1 1 1 0001001 1 1 1 0, read as set id, frame number, order type, references, gaps, columns, rows,
    // frames only, direct, crop flag, left 8, right 0, top 0, bottom 0, no usability information.
    EXPECT_EQ(parse_avc_sps(hex("67 42001e da 7c 4f 00")).code(), Errc::malformed);
    // The same with a left crop of 6 (00111 instead of 0001001): four samples remain.
    EXPECT_EQ(parse_avc_sps(hex("67 42001e da 7c fc"))->width, 4u);
}

struct OrderVector {
    const char* name;
    std::vector<std::uint8_t> sps;
    std::vector<std::uint8_t> expected;
};

// The parameter sets of libx264 are from ffmpeg 5.1, as in codec_vectors.hpp.
const std::vector<OrderVector>& order_vectors() {
    static const std::vector<OrderVector> table = {
        {"libx264, two pictures held back of four", hex("6764001facd9405005bb011000000300100000030320f1831960"),
         hex("6764001facd9605005bb011000000300100000030320f1832580")},
        {"libx264, cropped", hex("67640028acd940780227a9b01100000303e90000ea600f183196"),
         hex("67640028acd960780227a9b01100000303e90000ea600f183258")},
        {"libx264, interlaced", hex("6764001eacd940b424d8088000000300800000190f8a14cb"),
         hex("6764001eacd960b424d8088000000300800000190f8a152c")},
        {"libx264, 4:4:4", hex("67f4000d919b282a10f1f1f808800000030080000019078a14cb"),
         hex("67f4000d919b2c2a10f1f1f808800000030080000019078a152c")},
        {"libx264, 4:2:2", hex("677a000db6cd9415087888fc0440000003004000000c83c50a6580"),
         hex("677a000db6cd9615087888fc0440000003004000000c83c50a96")},
        {"libx264, baseline: nothing to do", hex("6742c01ed900a02ff97011000003000100000300320f162e48"),
         hex("6742c01ed900a02ff97011000003000100000300320f162e48")},
        {"no usability information, baseline", hex("67 42001e da 7c fc"), hex("67 42001e da 7c fe 01b41108d4")},
        // Hand-made: High, order type 0, four references, 40x23 macroblocks, and the usability information that the name
        // describes.
        {"no usability information", hex("6764001facd940a02f90"), hex("6764001facd960a02fa01b41108cb0")},
        {"only the timing", hex("6764001facd940a02fa10000030001000003003284"),
         hex("6764001facd960a02fa1000003000100000300328da0884658")},
        {"all but the restriction", hex("6764001facd940a02fbff00040003f5000000a4a0003200c801900642f7bde8000c803200640190bdef750"),
         hex("6764001facd960a02fbff00040003f5000000a4a0003200c801900642f7bde8000c803200640190bdef77682211960")},
        {"buffers, and one picture held back", hex("6764001facd940a02fa0a0003200c801900642f7bddf8c188b"),
         hex("6764001facd960a02fa0a0003200c801900642f7bddf8c192c")},
    };
    return table;
}

TEST(AvcSps, PromisesTheOrderOfDecoding) {
    for (const OrderVector& vector : order_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto changed = without_reordering(vector.sps);
        ASSERT_TRUE(changed.ok()) << changed.error().text();
        EXPECT_EQ(*changed, vector.expected);
        EXPECT_EQ(*without_reordering(*changed), *changed) << "there is nothing more to change";
        const auto before = parse_avc_sps(vector.sps);
        const auto after = parse_avc_sps(*changed);
        EXPECT_EQ(after->width, before->width);
        EXPECT_EQ(after->height, before->height);
        EXPECT_EQ(after->profile, before->profile);
        EXPECT_EQ(after->frames_per_second, before->frames_per_second);
    }
}

TEST(AvcSps, CutOrInvalidSpsPromisesNoOrder) {
    for (const OrderVector& vector : order_vectors())
        for (std::size_t size = 0; size + 2 < vector.sps.size(); ++size) {
            const auto changed = without_reordering(Bytes(vector.sps).first(size));
            EXPECT_TRUE(changed.ok() ? size > 6 : changed.code() == Errc::need_more) << vector.name << " cut at " << size;
        }
    EXPECT_EQ(without_reordering(hex("68 ebe3cb22c0")).code(), Errc::malformed);
    // Baseline as above, with 16 references and with 17.
    EXPECT_TRUE(without_reordering(hex("67 42001e d845e4")).ok());
    EXPECT_EQ(without_reordering(hex("67 42001e d849e4")).code(), Errc::malformed);
}

TEST(AvcSlice, IsOfABFrame) {
    EXPECT_TRUE(*is_avc_b_slice(hex("019e")));
    EXPECT_TRUE(*is_avc_b_slice(hex("41a8"))) << "type 1: other slices of the picture may be others";
    EXPECT_FALSE(*is_avc_b_slice(hex("419a")));
    EXPECT_FALSE(*is_avc_b_slice(hex("6588"))) << "I, 7";
    EXPECT_TRUE(*is_avc_b_slice(hex("01 001c2070"))) << "of macroblock 3599";
    EXPECT_TRUE(*is_avc_b_slice(hex("01 000003008000009c"))) << "of one so far that it takes emulation prevention";
    EXPECT_EQ(is_avc_b_slice({}).code(), Errc::need_more);
    EXPECT_EQ(is_avc_b_slice(hex("01")).code(), Errc::need_more);
    EXPECT_EQ(is_avc_b_slice(hex("0100")).code(), Errc::need_more);
    EXPECT_EQ(is_avc_b_slice(hex("018b")).code(), Errc::malformed) << "slice type 10";
}

TEST(AvcConfig, IsMadeOfParameterSets) {
    for (const PictureVector& vector : avc_vectors()) {
        const auto config = parse_avc_config(vector.record);
        const auto made = make_avc_config(config->sps, config->pps);
        ASSERT_TRUE(made.ok()) << vector.name;
        EXPECT_EQ(*made, vector.record) << vector.name;
        for (std::size_t size = 0; size < 4; ++size)
            EXPECT_EQ(make_avc_config(std::vector{config->sps[0].first(size)}, config->pps).code(), Errc::need_more);
        EXPECT_EQ(make_avc_config(config->pps, config->pps).code(), Errc::malformed);
    }
}

TEST(AvcConfig, MakesNoneOfTooManyParameterSets) {
    const auto config = parse_avc_config(avc_vectors().front().record);
    const Bytes sps = config->sps.front();
    EXPECT_EQ(make_avc_config({}, config->pps).code(), Errc::limit);
    EXPECT_TRUE(make_avc_config(std::vector(31, sps), std::vector(255, sps)).ok());
    EXPECT_EQ(make_avc_config(std::vector(32, sps), {}).code(), Errc::limit);
    EXPECT_EQ(make_avc_config(std::vector{sps}, std::vector(256, sps)).code(), Errc::limit);
    const std::vector<std::uint8_t> huge(0x1'0000, 0x68);
    EXPECT_EQ(make_avc_config(std::vector{sps}, std::vector{Bytes(huge)}).code(), Errc::limit);
}

TEST(AvcProfile, HasTheNamesPeopleUse) {
    EXPECT_EQ(avc_profile_name(66), "Baseline");
    EXPECT_EQ(avc_profile_name(100), "High");
    EXPECT_EQ(avc_profile_name(1), "Other");
}

}  // namespace
}  // namespace live::wire::codec
