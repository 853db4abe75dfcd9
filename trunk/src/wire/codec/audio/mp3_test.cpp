#include "wire/codec/audio/mp3.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

struct Case {
    const char* name;
    std::vector<std::uint8_t> bytes;
    Mp3Header header;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> table = {
        {"44.1 kHz, 128 kbps, joint stereo", hex("fffb9064"), {44'100, 128'000, 1'152, 2, 417}},
        {"the same, padded", hex("fffb9264"), {44'100, 128'000, 1'152, 2, 418}},
        {"48 kHz, 320 kbps, with a checksum", hex("fffae400"), {48'000, 320'000, 1'152, 2, 960}},
        {"32 kHz, 32 kbps, mono", hex("fffb18c0"), {32'000, 32'000, 1'152, 1, 144}},
        {"dual channel is two", hex("fffb9080"), {44'100, 128'000, 1'152, 2, 417}},
        {"MPEG-2, 22.05 kHz, 64 kbps, mono", hex("fff380c0"), {22'050, 64'000, 576, 1, 208}},
        {"MPEG-2.5, 8 kHz, 8 kbps, mono", hex("ffe318c0"), {8'000, 8'000, 576, 1, 72}},
        {"MPEG-2, 16 kHz, 160 kbps", hex("fff3e800"), {16'000, 160'000, 576, 2, 720}},
    };
    return table;
}

TEST(Mp3Header, ReadsEveryVector) {
    for (const Case& wanted : cases()) {
        const auto header = parse_mp3_header(wanted.bytes);
        ASSERT_TRUE(header.ok()) << wanted.name << ": " << header.error().text();
        EXPECT_EQ(header->sample_rate, wanted.header.sample_rate) << wanted.name;
        EXPECT_EQ(header->bit_rate, wanted.header.bit_rate) << wanted.name;
        EXPECT_EQ(header->frame_bytes, wanted.header.frame_bytes) << wanted.name;
        EXPECT_EQ(*header, wanted.header) << wanted.name;
    }
}

TEST(Mp3Header, EveryTruncationNeedsMore) {
    for (const Case& wanted : cases())
        for (std::size_t size = 0; size < kMp3HeaderBytes; ++size)
            EXPECT_EQ(parse_mp3_header(Bytes(wanted.bytes).first(size)).code(), Errc::need_more) << wanted.name;
}

TEST(Mp3Header, RefusesInvalidHeaders) {
    EXPECT_EQ(parse_mp3_header(hex("ffdb9064")).code(), Errc::malformed) << "sync word";
    EXPECT_EQ(parse_mp3_header(hex("ffeb9064")).code(), Errc::malformed) << "version 1";
    EXPECT_EQ(parse_mp3_header(hex("fff19064")).code(), Errc::malformed) << "layer 0, as in ADTS";
    EXPECT_EQ(parse_mp3_header(hex("fffbf064")).code(), Errc::malformed) << "bit rate 15";
    EXPECT_EQ(parse_mp3_header(hex("fffb9c64")).code(), Errc::malformed) << "sample rate 3";
    EXPECT_EQ(parse_mp3_header(hex("fffd9064")).code(), Errc::unsupported) << "layer II";
    EXPECT_EQ(parse_mp3_header(hex("ffff9064")).code(), Errc::unsupported) << "layer I";
    EXPECT_EQ(parse_mp3_header(hex("fffb0064")).code(), Errc::unsupported) << "free format";
}

TEST(MpegAudio, ReadsLayerTwoToo) {
    const auto header = parse_mpeg_audio_header(hex("fffda404")).value();
    EXPECT_EQ(header.layer, 2);
    EXPECT_EQ(header.bit_rate, 192'000u);
    EXPECT_EQ(header.sample_rate, 48'000u);
    EXPECT_EQ(header.samples, 1'152);
    EXPECT_EQ(header.frame_bytes, 576u);
    // MPEG-2, 64 kbit/s, 24,000 Hz: also 1,152 samples.
    EXPECT_EQ(parse_mpeg_audio_header(hex("fff58404"))->frame_bytes, 384u);
    EXPECT_EQ(parse_mp3_header(hex("fffda404")).code(), Errc::unsupported);
    EXPECT_EQ(parse_mpeg_audio_header(hex("fffb9404")).value(), parse_mp3_header(hex("fffb9404")).value());
    EXPECT_EQ(parse_mpeg_audio_header(hex("ffff9404")).code(), Errc::unsupported) << "layer I";
}

}  // namespace
}  // namespace live::wire::codec
