#include "wire/codec/av1.hpp"

#include <gtest/gtest.h>

#include "wire/codec/codec_vectors.hpp"

namespace live::wire::codec {
namespace {

TEST(Av1Config, ReadsEveryVectorAndItsPictureSize) {
    for (const PictureVector& vector : av1_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto config = parse_av1_config(vector.record);
        ASSERT_TRUE(config.ok()) << config.error().text();
        EXPECT_EQ(config->profile, vector.profile);
        EXPECT_EQ(config->level, vector.level);
        EXPECT_EQ((config->color_bits & 0x40) != 0, vector.bit_depth == 10);
        const auto header = parse_av1_sequence_header(config->obus);
        ASSERT_TRUE(header.ok()) << header.error().text();
        EXPECT_EQ(header->width, vector.width);
        EXPECT_EQ(header->height, vector.height);
        EXPECT_EQ(header->level, vector.level);
    }
}

TEST(Av1Config, WritesWhatItRead) {
    for (const PictureVector& vector : av1_vectors()) {
        ByteWriter out;
        write_av1_config(out, parse_av1_config(vector.record).value());
        EXPECT_EQ(out.release(), vector.record) << vector.name;
    }
}

TEST(Av1Config, EveryTruncationNeedsMore) {
    for (const PictureVector& vector : av1_vectors()) {
        for (std::size_t size = 0; size < 4; ++size)
            EXPECT_EQ(parse_av1_config(Bytes(vector.record).first(size)).code(), Errc::need_more) << vector.name;
        const Bytes obus = Bytes(vector.record).subspan(4);
        for (std::size_t size = 1; size < obus.size(); ++size)
            EXPECT_EQ(parse_av1_sequence_header(obus.first(size)).code(), Errc::need_more) << vector.name << " cut at " << size;
    }
}

TEST(Av1Config, IsMadeOfASequenceHeader) {
    for (const PictureVector& vector : av1_vectors()) {
        // A temporal delimiter before it and a frame after it, as in a key frame.
        ByteWriter frame;
        frame.bytes(hex("1200")).bytes(Bytes(vector.record).subspan(4)).bytes(hex("320100"));
        const auto made = make_av1_config(frame.written());
        ASSERT_TRUE(made.ok()) << vector.name;
        EXPECT_EQ(*made, vector.record) << vector.name;
        for (std::size_t size = 3; size < vector.record.size() - 2; ++size)
            EXPECT_EQ(make_av1_config(frame.written().first(size)).code(), Errc::need_more) << vector.name << ", cut at " << size;
    }
    EXPECT_EQ(make_av1_config(hex("320100")).code(), Errc::not_found);
    EXPECT_EQ(make_av1_config(hex("0a03 000000")).code(), Errc::need_more);
}

TEST(Av1Config, RefusesWhatItCannotBe) {
    EXPECT_EQ(parse_av1_config(hex("01 01 0c 00")).code(), Errc::malformed);
    EXPECT_EQ(parse_av1_config(hex("82 01 0c 00")).code(), Errc::unsupported);
}

TEST(Av1SequenceHeader, IsFoundBehindOtherObus) {
    EXPECT_EQ(parse_av1_sequence_header(hex("12 00 0a 0b 0000000cc4ff6736be4010"))->width, 640u);
    EXPECT_EQ(parse_av1_sequence_header(hex("16 00 00 0a 0b 0000000cc4ff6736be4010"))->width, 640u) << "with an extension byte";
    EXPECT_EQ(parse_av1_sequence_header(hex("08 0000000cc4ff6736be4010"))->width, 640u) << "without a size: to the end";
    EXPECT_EQ(parse_av1_sequence_header({}).code(), Errc::not_found);
    EXPECT_EQ(parse_av1_sequence_header(hex("12 00")).code(), Errc::not_found);
    EXPECT_EQ(parse_av1_sequence_header(hex("8a 00")).code(), Errc::malformed);
    EXPECT_EQ(parse_av1_sequence_header(hex("0a ffffffffffffffff 00")).code(), Errc::malformed);
}

TEST(Av1SequenceHeader, IsNotSearchedForWithoutEnd) {
    ByteWriter obus;
    for (int i = 0; i < 15; ++i)
        obus.bytes(hex("12 00"));
    ByteWriter sixteen;
    sixteen.bytes(obus.written()).bytes(hex("12 00 0a 0b 0000000cc4ff6736be4010"));
    obus.bytes(hex("0a 0b 0000000cc4ff6736be4010"));
    EXPECT_TRUE(parse_av1_sequence_header(obus.written()).ok());
    EXPECT_EQ(parse_av1_sequence_header(sixteen.written()).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::codec
