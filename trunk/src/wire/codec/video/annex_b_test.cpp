#include "wire/codec/video/annex_b.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/video/annex_b_vectors.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"

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

// Units are only cut or missing: the units of the whole begin with the units of a part.
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

TEST(AnnexB, RefusesOtherFormats) {
    EXPECT_EQ(read_annex_b(Codec::avc, hex("00000002 65aa")).code(), Errc::malformed) << "length-prefixed";
    EXPECT_EQ(read_annex_b(Codec::avc, hex("11 000001 65aa")).code(), Errc::malformed) << "bytes in front";
    EXPECT_EQ(read_annex_b(Codec::avc, hex("65aa")).code(), Errc::malformed) << "no start code";
    EXPECT_EQ(read_annex_b(Codec::hevc, hex("000001 26")).code(), Errc::malformed) << "half a header";
}

TEST(AnnexB, LimitsTheNumberOfUnits) {
    std::vector<std::uint8_t> stream;
    for (std::size_t i = 0; i < kAnnexBUnitsMax; ++i)
        append(stream, hex("41aa"));
    const auto full = read_annex_b(Codec::avc, stream);
    ASSERT_TRUE(full.ok());
    EXPECT_EQ(full->frame.size(), kAnnexBUnitsMax * 6);
    append(stream, hex("41aa"));
    EXPECT_EQ(read_annex_b(Codec::avc, stream).code(), Errc::limit);

    std::vector<std::uint8_t> empty;
    for (std::size_t i = 0; i <= kAnnexBUnitsMax; ++i)
        append(empty, {});
    EXPECT_EQ(read_annex_b(Codec::avc, empty).code(), Errc::limit);
}

// One byte after the other.
std::vector<std::string> naive_units(const std::string& stream) {
    std::vector<std::string> units;
    const std::string prefix("\0\0\1", 3);
    for (std::size_t at = stream.find(prefix); at < stream.size();) {
        const std::size_t next = stream.find(prefix, at + 3);
        std::string unit = stream.substr(at + 3, next == std::string::npos ? next : next - at - 3);
        unit.erase(unit.find_last_not_of('\0') + 1);
        if (!unit.empty())
            units.push_back(unit);
        at = next;
    }
    return units;
}

TEST(AnnexB, FindsEveryStartCodeWhereverItIs) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::string stream("\0\0\1", 3);
        // Long runs of zeros, single ones in between, and start codes across the borders of blocks.
        for (std::size_t left = random() % 400; left > 0; --left)
            stream.push_back(static_cast<char>(random() % (round % 2 == 0 ? 3 : 40) == 0 ? 1 + random() % 2 : 0));
        std::vector<Bytes> units;
        ASSERT_TRUE(split_annex_b(as_bytes(stream), units).ok());
        std::vector<std::string> found;
        for (const Bytes unit : units)
            found.emplace_back(as_text(unit));
        ASSERT_EQ(found, naive_units(stream)) << round;
    }
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

// Every mix of start codes, and of units that are left out, gives what the copying form gives.
TEST(AnnexB, WritesLengthsInPlaceOfEveryStartCode) {
    const std::vector<std::vector<std::uint8_t>> units = {hex("09f0"), hex("0605aabb"), hex("41010203040506"),
                                                          hex("0c"),   hex("4107"),     hex("65090a0b")};
    for (unsigned short_codes = 0; short_codes < 64; ++short_codes)
        for (unsigned there = 1; there < 64; ++there) {
            std::vector<std::uint8_t> stream;
            for (std::size_t i = 0; i < units.size(); ++i) {
                if ((there >> i & 1U) == 0)
                    continue;
                const auto code = (short_codes >> i & 1U) != 0 ? hex("000001") : hex("00000001");
                stream.insert(stream.end(), code.begin(), code.end());
                stream.insert(stream.end(), units[i].begin(), units[i].end());
            }
            Slice whole = Slice::copy_of(stream);
            const auto sorted = sort_annex_b(Codec::avc, whole.bytes()).value();
            const auto expected = read_annex_b(Codec::avc, stream).value().frame;
            const Slice in_place = with_lengths_in_place(whole, whole.mutable_bytes(), sorted.others);
            ASSERT_TRUE(std::ranges::equal(in_place.bytes(), expected.bytes())) << short_codes << " " << there;
        }
}

TEST(AnnexB, ReportsTheFormOfAFrame) {
    EXPECT_EQ(form_of(hex("00000002 419a"), 4), NalForm::lengths);
    EXPECT_EQ(form_of(hex("00000001 419a"), 4), NalForm::annex_b);
    EXPECT_EQ(form_of(hex("000001 419a 00"), 4), NalForm::annex_b);
    EXPECT_EQ(form_of(hex("00000001 0a"), 4), NalForm::either) << "a unit of one byte";
    EXPECT_EQ(form_of(hex("000001 02 41"), 2), NalForm::annex_b);
    EXPECT_EQ(form_of(hex("00000001"), 4), NalForm::annex_b);
    EXPECT_EQ(form_of({}, 4), NalForm::lengths);
    std::vector<std::uint8_t> frame = hex("00000141 419a");
    frame.resize(4 + 0x141);
    EXPECT_EQ(form_of(frame, 4), NalForm::either);
    for (std::size_t size = 4; size < frame.size(); ++size)
        EXPECT_EQ(form_of(Bytes(frame).first(size), 4), NalForm::annex_b) << size;
}

TEST(AnnexB, WritesUnitsAfterLengthsOfEachSize) {
    const auto first = hex("419a");
    const auto second = hex("4140");
    const std::vector<Bytes> units = {first, second};
    for (const auto& [size, wanted] : {std::pair{1, "27 02 419a 02 4140"}, std::pair{2, "27 0002 419a 0002 4140"},
                                       std::pair{4, "27 00000002 419a 00000002 4140"}}) {
        const auto made = put_behind_lengths(hex("27"), units, static_cast<std::uint8_t>(size));
        ASSERT_TRUE(made.ok());
        EXPECT_TRUE(std::ranges::equal(made->bytes(), hex(wanted))) << size;
    }
    const std::vector<std::uint8_t> large(256);
    EXPECT_EQ(put_behind_lengths({}, {Bytes(large).first(255)}, 1)->size(), 256U);
    EXPECT_EQ(put_behind_lengths({}, {large}, 1).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::codec
