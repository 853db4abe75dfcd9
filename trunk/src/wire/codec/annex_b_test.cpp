#include "wire/codec/annex_b.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/hex_fixture.hpp"
#include "wire/codec/annex_b_vectors.hpp"
#include "wire/codec/avc.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/hevc.hpp"

namespace live::wire::codec {
namespace {

constexpr std::uint8_t kPrefix[] = {0, 0, 1};

void append(std::vector<std::uint8_t>& stream, Bytes unit) {
    stream.insert(stream.end(), std::begin(kPrefix), std::end(kPrefix));
    stream.insert(stream.end(), unit.begin(), unit.end());
}

TEST(AnnexB, ReadsEveryVector) {
    for (const AnnexBVector& wanted : annex_b_vectors()) {
        const auto read = read_annex_b(wanted.codec, wanted.stream);
        ASSERT_TRUE(read.ok()) << wanted.name << ": " << read.error().text();
        EXPECT_TRUE(std::ranges::equal(read->frame.bytes(), wanted.frame)) << wanted.name;
        EXPECT_EQ(read->key, wanted.key) << wanted.name;
        EXPECT_EQ(read->vps.size() + read->sps.size() + read->pps.size(), wanted.sets) << wanted.name;
    }
}

// Units are cut or missing, and never anything else: what was read of the whole begins with what is read of a part.
TEST(AnnexB, EveryTruncationGivesABeginning) {
    for (const AnnexBVector& wanted : annex_b_vectors()) {
        std::vector<Bytes> whole;
        ASSERT_TRUE(split_annex_b(wanted.stream, whole).ok()) << wanted.name;
        for (std::size_t size = 0; size < wanted.stream.size(); ++size) {
            std::vector<Bytes> part;
            ASSERT_TRUE(split_annex_b(Bytes(wanted.stream).first(size), part).ok()) << wanted.name << " cut at " << size;
            ASSERT_LE(part.size(), whole.size());
            for (std::size_t i = 0; i < part.size(); ++i)
                EXPECT_TRUE(i + 1 < part.size() ? std::ranges::equal(part[i], whole[i])
                                                : std::ranges::equal(part[i], whole[i].first(part[i].size())))
                    << wanted.name << " cut at " << size << ", unit " << i;
            const auto read = read_annex_b(wanted.codec, Bytes(wanted.stream).first(size));
            EXPECT_TRUE(read.ok() || read.code() == Errc::malformed) << wanted.name << " cut at " << size;
        }
    }
}

TEST(AnnexB, RefusesWhatIsNoByteStream) {
    EXPECT_EQ(read_annex_b(Codec::avc, hex("00000002 65aa")).code(), Errc::malformed) << "length-prefixed";
    EXPECT_EQ(read_annex_b(Codec::avc, hex("11 000001 65aa")).code(), Errc::malformed) << "bytes in front";
    EXPECT_EQ(read_annex_b(Codec::avc, hex("65aa")).code(), Errc::malformed) << "no start code";
    EXPECT_EQ(read_annex_b(Codec::hevc, hex("000001 26")).code(), Errc::malformed) << "half a header";
}

TEST(AnnexB, HasABound) {
    std::vector<std::uint8_t> stream;
    for (std::size_t i = 0; i < kAnnexBUnitsMax; ++i)
        append(stream, hex("41aa"));
    const auto full = read_annex_b(Codec::avc, stream);
    ASSERT_TRUE(full.ok());
    EXPECT_EQ(full->frame.size(), kAnnexBUnitsMax * 6);
    append(stream, hex("41aa"));
    EXPECT_EQ(read_annex_b(Codec::avc, stream).code(), Errc::limit);
}

TEST(AnnexB, MakesTheConfigurationOfItsParameterSets) {
    for (const PictureVector& vector : avc_vectors()) {
        const auto wanted = parse_avc_config(vector.record).value();
        std::vector<std::uint8_t> stream;
        for (const auto* list : {&wanted.sps, &wanted.pps})
            for (const Bytes set : *list)
                append(stream, set);
        const auto record = make_config(Codec::avc, read_annex_b(Codec::avc, stream).value());
        ASSERT_TRUE(record.ok()) << vector.name << ": " << record.error().text();
        EXPECT_EQ(*record, vector.record) << vector.name;
    }
    for (const PictureVector& vector : hevc_vectors()) {
        const auto wanted = parse_hevc_config(vector.record).value();
        std::vector<std::uint8_t> stream;
        for (const HevcArray& array : wanted.arrays)
            for (const Bytes set : array.units)
                append(stream, set);
        const auto record = make_config(Codec::hevc, read_annex_b(Codec::hevc, stream).value());
        ASSERT_TRUE(record.ok()) << vector.name << ": " << record.error().text();
        EXPECT_TRUE(
            std::ranges::equal(parse_hevc_config(*record)->first_unit(HevcConfig::kSps), wanted.first_unit(HevcConfig::kSps)))
            << vector.name;
    }
    const auto no_pps = hex("000001 6742c01e");
    EXPECT_EQ(make_config(Codec::avc, read_annex_b(Codec::avc, no_pps).value()).code(), Errc::not_found);
    const auto no_vps = hex("000001 4201 01 000001 4401c1");
    EXPECT_EQ(make_config(Codec::hevc, read_annex_b(Codec::hevc, no_vps).value()).code(), Errc::not_found);
}

}  // namespace
}  // namespace live::wire::codec
