#include "wire/ts/write/access_unit.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/video/annex_b_vectors.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"

namespace live::wire::ts {
namespace {

VideoFormat avc_format() { return {PictureCodec::avc, 4, hex("00000001 67aa 00000001 68bb")}; }
VideoFormat hevc_format() { return {PictureCodec::hevc, 4, hex("00000001 4001 00000001 4201 00000001 4401")}; }

Result<std::vector<std::uint8_t>> collected(const VideoFormat& format, PictureIs is, const std::vector<std::uint8_t>& body) {
    std::vector<Bytes> parts;
    TRY(collect_access_unit(format, is, body, parts));
    ByteWriter out;
    for (const Bytes part : parts)
        out.bytes(part);
    return out.release();
}

struct Case {
    const char* name;
    VideoFormat format;
    PictureIs is;
    std::vector<std::uint8_t> body;
    std::vector<std::uint8_t> wanted;
};

const std::vector<Case>& cases() {
    using enum PictureIs;
    static const std::vector<Case> table = {
        {"inter picture", avc_format(), inter, hex("00000002 41c0"), hex("00000001 09f0 00000001 41c0")},
        {"key frame", avc_format(), key, hex("00000002 65c0"), hex("00000001 09f0 00000001 67aa 00000001 68bb 00000001 65c0")},
        {"two slices behind a message", avc_format(), inter, hex("00000001 06 00000002 41c0 00000002 41c1"),
         hex("00000001 09f0 00000001 06 00000001 41c0 00000001 41c1")},
        {"a delimiter of its own goes", avc_format(), inter, hex("00000002 0910 00000002 41c0"),
         hex("00000001 09f0 00000001 41c0")},
        {"parameter sets of its own", avc_format(), key, hex("00000002 67cc 00000002 68dd 00000002 65c0"),
         hex("00000001 09f0 00000001 67cc 00000001 68dd 00000001 65c0")},
        {"half of its parameter sets", avc_format(), key, hex("00000002 67cc 00000002 65c0"),
         hex("00000001 09f0 00000001 67aa 00000001 68bb 00000001 67cc 00000001 65c0")},
        {"empty units are left out", avc_format(), inter, hex("00000000 00000002 41c0 00000000"),
         hex("00000001 09f0 00000001 41c0")},
        {"nothing", avc_format(), key, {}, {}},
        {"nothing but a delimiter", avc_format(), key, hex("00000002 0910"), {}},
        {"lengths of two bytes", {PictureCodec::avc, 2, {}}, key, hex("0002 65c0"), hex("00000001 09f0 00000001 65c0")},
        {"lengths of one byte", {PictureCodec::avc, 1, {}}, inter, hex("02 41c0"), hex("00000001 09f0 00000001 41c0")},
        {"HEVC inter picture", hevc_format(), inter, hex("00000003 020111"), hex("00000001 460150 00000001 020111")},
        {"HEVC key frame", hevc_format(), key, hex("00000003 260111"),
         hex("00000001 460150 00000001 4001 00000001 4201 00000001 4401 00000001 260111")},
        {"HEVC delimiter of its own", hevc_format(), inter, hex("00000003 460110 00000003 020111"),
         hex("00000001 460150 00000001 020111")},
        {"HEVC parameter sets of its own", hevc_format(), key, hex("00000002 4001 00000002 4201 00000002 4401 00000003 260111"),
         hex("00000001 460150 00000001 4001 00000001 4201 00000001 4401 00000001 260111")},
        {"HEVC without its video parameter set", hevc_format(), key, hex("00000002 4201 00000002 4401 00000003 260111"),
         hex("00000001 460150 00000001 4001 00000001 4201 00000001 4401 00000001 4201 00000001 4401 00000001 260111")},
    };
    return table;
}

TEST(AccessUnit, GivesEveryVector) {
    for (const Case& wanted : cases()) {
        const auto unit = collected(wanted.format, wanted.is, wanted.body);
        ASSERT_TRUE(unit.ok()) << wanted.name << ": " << unit.error().text();
        EXPECT_EQ(*unit, wanted.wanted) << wanted.name;
    }
}

TEST(AccessUnit, MatchesTheByteStreamReader) {
    for (const codec::AnnexBVector& wanted : codec::annex_b_vectors()) {
        if (!wanted.is_written)
            continue;
        const auto format = wanted.codec == codec::Codec::avc ? avc_format() : hevc_format();
        const auto unit = collected(format, PictureIs::inter, wanted.frame);
        ASSERT_TRUE(unit.ok()) << wanted.name << ": " << unit.error().text();
        EXPECT_EQ(*unit, wanted.stream) << wanted.name;
    }
}

// Offsets in the body between two NAL units.
std::set<std::size_t> boundaries(const Case& of) {
    std::set<std::size_t> found;
    for (std::size_t at = 0; at < of.body.size();) {
        found.insert(at);
        std::size_t length = 0;
        for (std::size_t i = 0; i < of.format.nal_length_size; ++i)
            length = length << 8 | of.body[at + i];
        at += of.format.nal_length_size + length;
    }
    return found;
}

TEST(AccessUnit, ACutUnitIsMalformed) {
    for (const Case& wanted : cases()) {
        const auto between = boundaries(wanted);
        for (std::size_t size = 0; size < wanted.body.size(); ++size) {
            const std::vector<std::uint8_t> cut(wanted.body.begin(), wanted.body.begin() + static_cast<std::ptrdiff_t>(size));
            const auto unit = collected(wanted.format, wanted.is, cut);
            EXPECT_EQ(unit.ok(), between.contains(size)) << wanted.name << " cut at " << size;
            if (!unit.ok()) {
                EXPECT_EQ(unit.code(), Errc::malformed) << wanted.name << " cut at " << size;
            }
        }
    }
    EXPECT_EQ(collected(avc_format(), PictureIs::inter, hex("ffffffff 41")).code(), Errc::malformed);
    EXPECT_EQ(collected(avc_format(), PictureIs::inter, hex("00000001")).code(), Errc::malformed);
}

TEST(AccessUnit, BoundsTheUnits) {
    std::vector<std::uint8_t> body;
    for (std::size_t i = 0; i < kNalUnitsMax; ++i)
        body.insert(body.end(), {1, 0x41});
    const VideoFormat format{PictureCodec::avc, 1, {}};
    EXPECT_TRUE(collected(format, PictureIs::inter, body).ok());
    body.insert(body.end(), {1, 0x41});
    EXPECT_EQ(collected(format, PictureIs::inter, body).code(), Errc::limit);
}

TEST(VideoFormat, KeepsTheParameterSetsInOrder) {
    for (const codec::PictureVector& vector : codec::avc_vectors()) {
        const auto format = avc_video_format(vector.record);
        ASSERT_TRUE(format.ok()) << vector.name;
        EXPECT_EQ(format->codec, PictureCodec::avc);
        EXPECT_EQ(format->nal_length_size, 4);
        const auto config = codec::parse_avc_config(vector.record).value();
        ByteWriter wanted;
        wanted.u32be(1).bytes(config.sps.at(0)).u32be(1).bytes(config.pps.at(0));
        EXPECT_EQ(format->parameter_sets, wanted.release()) << vector.name;
    }
    for (const codec::PictureVector& vector : codec::hevc_vectors()) {
        const auto format = hevc_video_format(vector.record);
        ASSERT_TRUE(format.ok()) << vector.name;
        EXPECT_EQ(format->codec, PictureCodec::hevc);
        const auto config = codec::parse_hevc_config(vector.record).value();
        ByteWriter wanted;
        for (const auto type : {codec::HevcConfig::kVps, codec::HevcConfig::kSps, codec::HevcConfig::kPps})
            wanted.u32be(1).bytes(config.first_unit(type));
        EXPECT_EQ(format->parameter_sets, wanted.release()) << vector.name;
    }
}

TEST(VideoFormat, ReportsRecordErrors) {
    EXPECT_EQ(avc_video_format(hex("02")).code(), Errc::unsupported);
    EXPECT_EQ(avc_video_format(hex("0164")).code(), Errc::need_more);
    EXPECT_EQ(hevc_video_format({}).code(), Errc::need_more);
}

}  // namespace
}  // namespace live::wire::ts
