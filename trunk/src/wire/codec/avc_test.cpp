#include "wire/codec/avc.hpp"

#include <gtest/gtest.h>

#include "wire/codec/codec_vectors.hpp"

namespace live::wire::codec {
namespace {

TEST(AvcConfig, ReadsEveryVectorAndItsPictureSize) {
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

TEST(AvcConfig, WritesWhatItRead) {
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

TEST(AvcSps, SaysItsSizeEvenWhenTheUsabilityInformationIsCut) {
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

TEST(AvcSps, RefusesOtherNalUnitsAndNonsense) {
    EXPECT_EQ(parse_avc_sps(hex("68 ebe3cb22c0")).code(), Errc::malformed);
    // Profile 66, level 30, then set id 0, frame number 0, picture order type 3.
    EXPECT_EQ(parse_avc_sps(hex("67 42001e c8 000000")).code(), Errc::malformed);
}

TEST(AvcSps, RefusesACropOfTheWholePicture) {
    // Baseline, order type 2, one reference, 1x1 macroblocks, frames only, crop of 8 + 0 units of two samples.
    // Bits: 1 1 011 010 0 1 1 1 1 1 0001001 1 1 1 0, read as set id, frame number, order type, references, gaps, columns, rows,
    // frames only, direct, crop flag, left 8, right 0, top 0, bottom 0, no usability information.
    EXPECT_EQ(parse_avc_sps(hex("67 42001e da 7c 4f 00")).code(), Errc::malformed);
    // The same with a left crop of 6 (00111 instead of 0001001): four samples stay.
    EXPECT_EQ(parse_avc_sps(hex("67 42001e da 7c fc"))->width, 4u);
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
