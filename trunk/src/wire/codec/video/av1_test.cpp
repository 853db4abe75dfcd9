#include "wire/codec/video/av1.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/bit_writer.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::wire::codec {
namespace {

TEST(Av1Config, ReadsEveryVectorAndItsFrameSize) {
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

TEST(Av1Config, RoundTrips) {
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

TEST(Av1Config, RefusesInvalidConfigurations) {
    EXPECT_EQ(parse_av1_config(hex("01 01 0c 00")).code(), Errc::malformed);
    EXPECT_EQ(parse_av1_config(hex("82 01 0c 00")).code(), Errc::unsupported);
}

TEST(Av1SequenceHeader, IsFoundAfterOtherObus) {
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

// A sequence header with everything that one may hold before its color_config, of 1920 by 1080 (AV1, 5.5.1).
BitWriter full_header(unsigned profile) {
    BitWriter bits;
    bits.bits(profile, 3).flag(false).flag(false);
    bits.flag(true).bits(1, 32).bits(50, 32).flag(true).ue(1);     // timing: 50 units of time, each frame two
    bits.flag(true).bits(9, 5).bits(1, 32).bits(9, 5).bits(9, 5);  // the decoder's model, whose delays have 10 bits
    bits.flag(true).bits(1, 5);                                    // display delays; two operating points
    bits.bits(0, 12).bits(9, 5).flag(true).flag(true).bits(5, 10).bits(5, 10).flag(false).flag(true).bits(3, 4);
    bits.bits(1, 12).bits(4, 5).flag(false).flag(false);
    bits.bits(10, 4).bits(10, 4).bits(1'919, 11).bits(1'079, 11);
    bits.flag(true).bits(2, 4).bits(3, 3).bits(0, 3);                          // numbers of frames
    bits.bits(0, 4).flag(true).bits(0, 2);                                     // order hints
    bits.flag(false).bits(1, 1).flag(false).bits(1, 1).bits(6, 3).bits(0, 3);  // screen content, integer vectors
    return bits;
}

std::vector<std::uint8_t> obu_of(const BitWriter& bits) {
    ByteWriter out;
    out.u8(0x0A).u8(static_cast<std::uint8_t>(bits.written().size())).bytes(bits.written());
    return out.release();
}

TEST(Av1Config, ReadsAFullSequenceHeader) {
    BitWriter bits = full_header(0);
    bits.bits(0, 3).flag(false).bits(2, 2).bits(0, 2);  // color_config
    const auto obu = obu_of(bits);
    const auto header = parse_av1_sequence_header(obu);
    ASSERT_TRUE(header.ok()) << header.error().text();
    EXPECT_EQ(header->width, 1'920u);
    EXPECT_EQ(header->height, 1'080u);
    EXPECT_EQ(header->level, 9);
    EXPECT_DOUBLE_EQ(header->frames_per_second.value_or(0), 25);
    const auto config = parse_av1_config(make_av1_config(obu).value()).value();
    EXPECT_TRUE(config.high_tier);
    EXPECT_EQ(config.color_bits, 0x0E);
    for (std::size_t size = 1; size + 1 < bits.written().size(); ++size) {
        auto cut = obu;
        cut.resize(2 + size);
        cut[1] = static_cast<std::uint8_t>(size);
        EXPECT_EQ(make_av1_config(cut).code(), Errc::need_more) << size;
    }
}

TEST(Av1Config, ReadsTheHeaderOfAStillImage) {
    BitWriter bits;
    bits.bits(0, 3).flag(true).flag(true).bits(8, 5);
    bits.bits(7, 4).bits(7, 4).bits(255, 8).bits(127, 8);
    bits.bits(0, 3).bits(0, 3);
    bits.flag(false).flag(true).flag(false).flag(false);  // monochrome
    const auto obu = obu_of(bits);
    const auto config = parse_av1_config(make_av1_config(obu).value()).value();
    EXPECT_EQ(config.level, 8);
    EXPECT_EQ(config.color_bits, 0x1C);
    const auto header = parse_av1_sequence_header(obu).value();
    EXPECT_EQ(header.width, 256u);
    EXPECT_EQ(header.height, 128u);
}

// AV1, 5.5.2, and the record's fields in the AV1 codec mapping for ISO media, 2.3.3.
TEST(Av1Config, HasTheFormatsOfAllProfiles) {
    struct Case {
        const char* what;
        unsigned profile;
        std::vector<std::pair<std::uint32_t, unsigned>> bits;
        std::uint8_t color;
    };
    for (const Case& one : {
             Case{"sRGB", 1, {{0, 1}, {1, 1}, {1, 8}, {13, 8}, {0, 8}}, 0x00},
             Case{"4:4:4 of 10 bits", 1, {{1, 1}, {0, 1}, {0, 1}}, 0x40},
             Case{"4:2:2 of 8 bits", 2, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}, 0x08},
             Case{"4:2:0 of 12 bits", 2, {{1, 1}, {1, 1}, {0, 1}, {0, 1}, {0, 1}, {1, 1}, {1, 1}, {2, 2}}, 0x6E},
             Case{"4:4:4 of 12 bits", 2, {{1, 1}, {1, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}, 0x60},
         }) {
        BitWriter bits = full_header(one.profile);
        for (const auto& [value, count] : one.bits)
            bits.bits(value, count);
        bits.trailing_bits();
        const auto config = parse_av1_config(make_av1_config(obu_of(bits)).value()).value();
        EXPECT_EQ(config.profile, one.profile) << one.what;
        EXPECT_EQ(config.color_bits, one.color) << one.what;
    }
}

TEST(Av1Obu, GetsItsSizeAndKeepsItsExtension) {
    ByteWriter whole;
    whole.u8(0x34).u8(0x08).zeros(200);
    ByteReader in(whole.written());
    const Obu obu = read_obu(in).value();
    EXPECT_EQ(obu.type, 6);
    EXPECT_FALSE(obu.has_size);
    ByteWriter out;
    write_obu(out, obu);
    EXPECT_TRUE(std::ranges::equal(out.written().first(4), hex("36 08 c801")));
    ByteReader again(out.written());
    const Obu sized = read_obu(again).value();
    EXPECT_TRUE(again.at_end());
    EXPECT_TRUE(std::ranges::equal(sized.payload, obu.payload));
}

TEST(Av1Obu, ASizeIsOfThirtyTwoBits) {
    const auto code = [](const char* text) {
        const auto bytes = hex(text);
        ByteReader in(bytes);
        return read_obu(in).code();
    };
    EXPECT_EQ(code("0a ffffffff0f"), Errc::need_more);
    EXPECT_EQ(code("0a 8080808010"), Errc::malformed);
    EXPECT_EQ(code("0a 8080808080808080"), Errc::malformed);
}

}  // namespace
}  // namespace live::wire::codec
