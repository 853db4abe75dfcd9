#include "wire/codec/hevc.hpp"

#include <gtest/gtest.h>

#include "wire/codec/codec_vectors.hpp"

namespace live::wire::codec {
namespace {

TEST(HevcConfig, ReadsEveryVectorAndItsPictureSize) {
    for (const PictureVector& vector : hevc_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto config = parse_hevc_config(vector.record);
        ASSERT_TRUE(config.ok()) << config.error().text();
        EXPECT_EQ(config->profile, vector.profile);
        EXPECT_EQ(config->level, vector.level);
        EXPECT_EQ(config->bit_depth_luma, vector.bit_depth);
        EXPECT_EQ(config->nal_length_size, 4);
        EXPECT_EQ(config->arrays.size(), 3u);
        EXPECT_FALSE(config->first_unit(HevcConfig::kVps).empty());
        EXPECT_FALSE(config->first_unit(HevcConfig::kPps).empty());
        EXPECT_TRUE(config->first_unit(39).empty());
        const auto sps = parse_hevc_sps(config->first_unit(HevcConfig::kSps));
        ASSERT_TRUE(sps.ok()) << sps.error().text();
        EXPECT_EQ(sps->width, vector.width);
        EXPECT_EQ(sps->height, vector.height);
        EXPECT_EQ(sps->profile, vector.profile);
        EXPECT_EQ(sps->level, vector.level);
    }
}

TEST(HevcConfig, WritesWhatItRead) {
    for (const PictureVector& vector : hevc_vectors()) {
        ByteWriter out;
        write_hevc_config(out, parse_hevc_config(vector.record).value());
        EXPECT_EQ(out.release(), vector.record) << vector.name;
    }
}

TEST(HevcConfig, EveryTruncationNeedsMore) {
    for (const PictureVector& vector : hevc_vectors())
        for (std::size_t size = 0; size < vector.record.size(); ++size)
            EXPECT_EQ(parse_hevc_config(Bytes(vector.record).first(size)).code(), Errc::need_more)
                << vector.name << " cut at " << size;
}

TEST(HevcConfig, RefusesOtherVersionsAndThreeByteLengths) {
    auto record = hevc_vectors()[0].record;
    record[0] = 2;
    EXPECT_EQ(parse_hevc_config(record).code(), Errc::unsupported);
    record[0] = 0;
    EXPECT_TRUE(parse_hevc_config(record).ok()) << "what encoders wrote while the text was a draft";
    record[21] = 0x0E;
    EXPECT_EQ(parse_hevc_config(record).code(), Errc::malformed);
}

TEST(HevcConfig, BoundsTheUnits) {
    const auto record = [](int units) {
        ByteWriter out;
        out.bytes(Bytes(hevc_vectors()[0].record).first(22)).u8(2).u8(39).u16be(200).zeros(400);
        out.u8(40).u16be(static_cast<std::uint16_t>(units)).zeros(2 * static_cast<std::size_t>(units));
        return out.release();
    };
    EXPECT_TRUE(parse_hevc_config(record(56)).ok());
    EXPECT_EQ(parse_hevc_config(record(57)).code(), Errc::limit);
}

TEST(HevcConfig, IsMadeOfParameterSets) {
    for (const PictureVector& vector : hevc_vectors()) {
        const auto config = parse_hevc_config(vector.record);
        const auto& arrays = config->arrays;
        const auto made = make_hevc_config(arrays[0].units, arrays[1].units, arrays[2].units);
        ASSERT_TRUE(made.ok()) << vector.name;
        EXPECT_EQ(*made, vector.record) << vector.name;
        const Bytes sps = arrays[1].units.front();
        for (std::size_t size = 0; size < 22; ++size)
            EXPECT_EQ(make_hevc_config({}, std::vector{sps.first(size)}, {}).code(), Errc::need_more) << size;
        EXPECT_EQ(make_hevc_config({}, arrays[0].units, {}).code(), Errc::malformed);
    }
}

TEST(HevcConfig, MakesNoneOfTooManyParameterSets) {
    const auto config = parse_hevc_config(hevc_vectors()[0].record);
    const Bytes sps = config->first_unit(HevcConfig::kSps);
    const std::vector<Bytes> one{sps};
    EXPECT_EQ(make_hevc_config(one, {}, one).code(), Errc::limit);
    EXPECT_TRUE(make_hevc_config({}, one, std::vector(255, sps)).ok());
    EXPECT_EQ(make_hevc_config({}, one, std::vector(256, sps)).code(), Errc::limit);
    const std::vector<std::uint8_t> huge(0x1'0000, 0x44);
    EXPECT_EQ(make_hevc_config({}, one, std::vector{Bytes(huge)}).code(), Errc::limit);
}

TEST(HevcSps, EveryTruncationIsAnErrorOrTheSameSize) {
    const auto& record = hevc_vectors()[1].record;
    const auto config = parse_hevc_config(record);
    const Bytes sps = config->first_unit(HevcConfig::kSps);
    for (std::size_t size = 0; size < sps.size(); ++size) {
        const auto info = parse_hevc_sps(sps.first(size));
        if (info.ok()) {
            EXPECT_EQ(info->width, 1918u) << size;
        } else {
            EXPECT_EQ(info.code(), Errc::need_more) << size;
        }
    }
}

TEST(HevcSps, RefusesOtherNalUnits) {
    EXPECT_EQ(parse_hevc_sps(hex("4001 0c01ffff")).code(), Errc::malformed);
    EXPECT_EQ(parse_hevc_sps(hex("4201 0f")).code(), Errc::malformed) << "seven sub-layers beyond the first";
}

}  // namespace
}  // namespace live::wire::codec
