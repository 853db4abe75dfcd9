#include "wire/codec/video/hevc.hpp"

#include <gtest/gtest.h>

#include "wire/codec/bit_reader.hpp"
#include "wire/codec/bit_writer.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::wire::codec {
namespace {

TEST(HevcConfig, ReadsEveryVectorAndItsFrameSize) {
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

TEST(HevcConfig, RoundTrips) {
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

// Returns the sequence parameter set of a vector with `count` layers below the highest, every second one with its own profile.
std::vector<std::uint8_t> with_sub_layers(Bytes sps, unsigned count) {
    const auto payload = without_emulation_prevention(sps);
    BitWriter out;
    out.copy(payload, 0, 20).bits(count, 3).copy(payload, 23, 120);
    for (unsigned layer = 0; count > 0 && layer < 8; ++layer)
        out.bits(layer >= count ? 0 : layer % 2 == 0 ? 3 : 1, 2);
    for (unsigned layer = 0; layer < count; ++layer) {
        if (layer % 2 == 0)
            out.bits(0, 32).bits(0, 32).bits(0, 24);
        out.bits(30, 8);
    }
    out.copy(payload, 120, payload.size() * 8);
    return with_emulation_prevention(out.written());
}

TEST(HevcSps, PassesOverTheLayersBelowTheHighest) {
    for (const PictureVector& vector : hevc_vectors()) {
        const auto config = parse_hevc_config(vector.record);
        const Bytes sps = config->first_unit(HevcConfig::kSps);
        for (unsigned count = 0; count <= 6; ++count) {
            const auto info = parse_hevc_sps(with_sub_layers(sps, count));
            ASSERT_TRUE(info.ok()) << vector.name << ", " << count << ": " << info.error().text();
            EXPECT_EQ(info->width, vector.width);
            EXPECT_EQ(info->height, vector.height);
            EXPECT_EQ(info->level, vector.level);
        }
        EXPECT_EQ(parse_hevc_sps(with_sub_layers(sps, 7)).code(), Errc::malformed);
    }
}

TEST(HevcSps, AFrameHasWidthAndHeight) {
    // With 4:4:4, as far as the conformance window.
    const auto sps = [](std::uint32_t width, std::uint32_t height, std::uint32_t cut) {
        BitWriter out;
        out.bits(0x4201, 16).bits(1, 8).bits(0, 32).bits(0, 32).bits(0, 32);
        out.ue(0).ue(3).bits(0, 1).ue(width).ue(height).flag(true).ue(cut).ue(0).ue(cut).ue(0).trailing_bits();
        return with_emulation_prevention(out.written());
    };
    const auto info = parse_hevc_sps(sps(640, 360, 8));
    ASSERT_TRUE(info.ok()) << info.error().text();
    EXPECT_EQ(info->width, 632u);
    EXPECT_EQ(info->height, 352u);
    EXPECT_EQ(parse_hevc_sps(sps(0, 360, 0)).code(), Errc::malformed);
    EXPECT_EQ(parse_hevc_sps(sps(640, 0, 0)).code(), Errc::malformed);
    EXPECT_EQ(parse_hevc_sps(sps(640, 360, 359))->height, 1u);
    EXPECT_EQ(parse_hevc_sps(sps(640, 360, 360)).code(), Errc::malformed) << "the window leaves nothing of it";
}

}  // namespace
}  // namespace live::wire::codec
