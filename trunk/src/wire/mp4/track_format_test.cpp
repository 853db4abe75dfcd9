#include "wire/mp4/track_format.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/mp4/box_reader_fixture.hpp"

namespace live::wire::mp4 {
namespace {

using Body = std::vector<std::uint8_t>;

codec::SpsInfo picture_of(std::uint32_t width, std::uint32_t height) {
    codec::SpsInfo picture;
    picture.width = width;
    picture.height = height;
    return picture;
}

// The sample entry's type and fields, and the type and content of the inner box.
struct Entry {
    std::string type;
    Bytes fields;
    TestBox inner;
};

constexpr std::size_t kVisualFields = 78;
constexpr std::size_t kAudioFields = 28;

Entry entry_of(const TrackFormat& format) {
    static std::vector<TestBox> kept;
    kept = read_boxes(format.sample_entry);
    EXPECT_EQ(kept.size(), 1u);
    const Bytes content(kept[0].content);
    const std::size_t fields = format.kind == MediaKind::video ? kVisualFields : kAudioFields;
    auto inner = read_boxes(content.subspan(fields));
    EXPECT_EQ(inner.size(), 1u);
    return {kept[0].type, content.first(fields), inner.at(0)};
}

TEST(TrackFormat, DescribesFrames) {
    const struct {
        Result<TrackFormat> format;
        std::string codecs;
        std::string type;
        std::string inner;
        const codec::PictureVector& vector;
    } cases[] = {
        {avc_format(codec::avc_vectors()[0].record), "avc1.64001f", "avc1", "avcC", codec::avc_vectors()[0]},
        {avc_format(codec::avc_vectors()[1].record), "avc1.640028", "avc1", "avcC", codec::avc_vectors()[1]},
        {hevc_format(codec::hevc_vectors()[0].record), "hvc1.1.6.L93.90", "hvc1", "hvcC", codec::hevc_vectors()[0]},
        {hevc_format(codec::hevc_vectors()[1].record), "hvc1.2.4.L120.90", "hvc1", "hvcC", codec::hevc_vectors()[1]},
        {av1_format(codec::av1_vectors()[0].record), "av01.0.01M.08", "av01", "av1C", codec::av1_vectors()[0]},
        {av1_format(codec::av1_vectors()[1].record), "av01.0.00M.10", "av01", "av1C", codec::av1_vectors()[1]},
    };
    for (const auto& one : cases) {
        ASSERT_TRUE(one.format.ok()) << one.codecs << ": " << one.format.error().text();
        const TrackFormat& format = *one.format;
        EXPECT_EQ(format.codecs, one.codecs);
        EXPECT_EQ(format.kind, MediaKind::video);
        EXPECT_EQ(format.timescale, 90'000u);
        EXPECT_EQ(format.width, one.vector.width);
        EXPECT_EQ(format.height, one.vector.height);
        EXPECT_DOUBLE_EQ(format.frames_per_second, one.vector.frames_per_second);
        const Entry entry = entry_of(format);
        EXPECT_EQ(entry.type, one.type);
        EXPECT_EQ(entry.fields[7], 1) << "data reference index";
        EXPECT_EQ(entry.fields[24] << 8 | entry.fields[25], one.vector.width);
        EXPECT_EQ(entry.fields[26] << 8 | entry.fields[27], one.vector.height);
        EXPECT_EQ(entry.inner.type, one.inner);
        EXPECT_EQ(entry.inner.content, one.vector.record);
    }
}

TEST(TrackFormat, Vp9RecordsComeWithAndWithoutAFullBox) {
    const codec::SpsInfo picture = picture_of(640, 360);
    for (const Body& record : {hex("00 0a 82 02 02 02 0000"), hex("01000000 00 0a 82 02 02 02 0000")}) {
        const auto format = vp9_format(record, picture);
        ASSERT_TRUE(format.ok()) << format.error().text();
        EXPECT_EQ(format->codecs, "vp09.00.10.08");
        const Entry entry = entry_of(*format);
        EXPECT_EQ(entry.type, "vp09");
        EXPECT_EQ(entry.inner.type, "vpcC");
        EXPECT_EQ(entry.inner.content, hex("01000000 00 0a 82 02 02 02 0000"));
        for (std::size_t size = 0; size < 8; ++size)
            EXPECT_FALSE(vp9_format(Bytes(record).first(size), picture).ok()) << size;
    }
    EXPECT_EQ(vp9_format(hex("02 00 a2 02 02 02 0000"), picture)->codecs, "vp09.02.10.10") << "no level: the lowest";
    EXPECT_EQ(vp9_format(hex("04 0a 82 02 02 02 0000"), picture).code(), Errc::malformed);
    EXPECT_EQ(vp9_format(hex("00 0a 72 02 02 02 0000"), picture).code(), Errc::malformed);
    EXPECT_EQ(vp9_format(hex("00 0a 82 02 02 02 0000"), picture_of(65'536, 1)).code(), Errc::limit);
}

TEST(TrackFormat, DescribesAac) {
    const auto format = aac_format(hex("1210"));
    ASSERT_TRUE(format.ok()) << format.error().text();
    EXPECT_EQ(format->codecs, "mp4a.40.2");
    EXPECT_EQ(format->timescale, 44'100u);
    EXPECT_EQ(format->sample_ticks, 1'024u);
    const Entry entry = entry_of(*format);
    EXPECT_EQ(entry.type, "mp4a");
    EXPECT_EQ(Body(entry.fields.begin(), entry.fields.end()),
              hex("000000000000 0001 0000000000000000 0002 0010 0000 0000 ac440000"));
    EXPECT_EQ(entry.inner.type, "esds");
    EXPECT_EQ(entry.inner.content, hex("00000000 03 19 0000 00 04 11 40 15 000000 00000000 00000000 05 02 1210 06 01 02"));
    EXPECT_EQ(aac_format(hex("2b920800"))->codecs, "mp4a.40.5") << "HE-AAC, announced";
    EXPECT_EQ(aac_format(hex("1010"))->sample_rate, 96'000u);
    EXPECT_EQ(aac_format(hex("12")).code(), Errc::need_more);
    Body longest = hex("1210");
    longest.resize(1'024);
    EXPECT_TRUE(aac_format(longest).ok());
    longest.resize(1'025);
    EXPECT_EQ(aac_format(longest).code(), Errc::limit);
}

TEST(TrackFormat, DescribesOpus) {
    const auto format = opus_format(hex("4f70757348656164 01 02 3801 80bb0000 0100 00"));
    ASSERT_TRUE(format.ok()) << format.error().text();
    EXPECT_EQ(format->codecs, "opus");
    EXPECT_EQ(format->timescale, 48'000u);
    const Entry entry = entry_of(*format);
    EXPECT_EQ(entry.type, "Opus");
    EXPECT_EQ(entry.inner.type, "dOps");
    EXPECT_EQ(entry.inner.content, hex("00 02 0138 0000bb80 0001 00"));
    const auto surround = opus_format(hex("4f70757348656164 01 06 3801 80bb0000 00ff 01 04 02 000401020503"));
    EXPECT_EQ(entry_of(*surround).inner.content, hex("00 06 0138 0000bb80 ff00 01 04 02 000401020503"));
}

TEST(TrackFormat, DescribesFlac) {
    const auto block = hex("1000 1000 000000 000000 0ac442f000000000 00112233445566778899aabbccddeeff");
    const auto format = flac_format(block);
    ASSERT_TRUE(format.ok()) << format.error().text();
    EXPECT_EQ(format->codecs, "fLaC");
    EXPECT_EQ(format->timescale, 44'100u);
    EXPECT_EQ(format->sample_ticks, 4'096u);
    const Entry entry = entry_of(*format);
    EXPECT_EQ(entry.inner.type, "dfLa");
    Body expected = hex("00000000 80000022");
    expected.insert(expected.end(), block.begin(), block.end());
    EXPECT_EQ(entry.inner.content, expected);
}

TEST(TrackFormat, DescribesMp3) {
    const auto format = mp3_format(hex("fffb9064"));
    ASSERT_TRUE(format.ok()) << format.error().text();
    EXPECT_EQ(format->codecs, "mp4a.6B");
    EXPECT_EQ(format->sample_ticks, 1'152u);
    EXPECT_EQ(entry_of(*format).inner.content, hex("00000000 03 15 0000 00 04 0d 6b 15 000000 00000000 00000000 06 01 02"));
    EXPECT_EQ(mp3_format(hex("fff38064"))->codecs, "mp4a.69") << "MPEG-2 rates";
    EXPECT_EQ(mp3_format(hex("fffb")).code(), Errc::need_more);
}

TEST(TrackFormat, TruncatedConfigurationsAreErrors) {
    const auto check = [](const Body& record, Result<TrackFormat> (*parse)(Bytes)) {
        for (std::size_t size = 0; size + 4 < record.size(); ++size)
            EXPECT_FALSE(parse(Bytes(record).first(size)).ok()) << size;
    };
    check(codec::avc_vectors()[0].record, avc_format);
    check(codec::hevc_vectors()[0].record, hevc_format);
    check(hex("4f70757348656164 01 06 3801 80bb0000 00ff 01 04 02 000401020503"), opus_format);
    EXPECT_EQ(av1_format(hex("81010c00")).code(), Errc::not_found) << "the size is in the key frame";
    const codec::SpsInfo picture = picture_of(640, 360);
    EXPECT_EQ(av1_format(hex("81010c00"), &picture)->width, 640);
}

}  // namespace
}  // namespace live::wire::mp4
