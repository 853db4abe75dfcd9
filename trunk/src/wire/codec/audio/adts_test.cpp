#include "wire/codec/audio/adts.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

struct AdtsCase {
    const char* name;
    std::vector<std::uint8_t> bytes;
    AdtsHeader header;
    bool canonical = true;
};

AudioSpecificConfig config_of(std::uint8_t type, std::uint32_t rate, std::uint8_t channels) {
    return {type, rate, channels, false, false, rate};
}

const std::vector<AdtsCase>& adts_cases() {
    static const std::vector<AdtsCase> table = {
        {"low complexity, 44.1 kHz, stereo, 3 bytes", hex("fff1508001 5ffc"), {config_of(2, 44'100, 2), 7, 3}},
        {"main, 8 kHz, mono, empty", hex("fff12c4000fffc"), {config_of(1, 8'000, 1), 7, 0}},
        {"scalable, 48 kHz, 5.1", hex("fff18d8000fffc"), {config_of(3, 48'000, 6), 7, 0}},
        {"7.1", hex("fff14dc0 00fffc"), {config_of(2, 48'000, 8), 7, 0}},
        {"long-term prediction, 96 kHz, the longest frame", hex("fff1c083fffffc"), {config_of(4, 96'000, 2), 7, 8'184}},
        {"MPEG-2, with a checksum", hex("fff8508001bffc 1234"), {config_of(2, 44'100, 2), 9, 4}, false},
        {"two blocks, half full", hex("fff15080015001"), {config_of(2, 44'100, 2), 7, 3, 2}, false},
        {"channels in the stream", hex("fff1500000fffc"), {config_of(2, 44'100, 0), 7, 0}, false},
    };
    return table;
}

TEST(Adts, ReadsEveryVector) {
    for (const AdtsCase& wanted : adts_cases()) {
        const auto header = parse_adts_header(wanted.bytes);
        ASSERT_TRUE(header.ok()) << wanted.name << ": " << header.error().text();
        EXPECT_EQ(header->config, wanted.header.config) << wanted.name;
        EXPECT_EQ(header->frame_bytes, wanted.header.frame_bytes) << wanted.name;
        EXPECT_EQ(*header, wanted.header) << wanted.name;
    }
}

TEST(Adts, RoundTrips) {
    for (const AdtsCase& wanted : adts_cases()) {
        if (!wanted.canonical)
            continue;
        const auto header = adts_header(wanted.header.config, wanted.header.frame_bytes);
        ASSERT_TRUE(header.ok()) << wanted.name << ": " << header.error().text();
        EXPECT_EQ(std::vector(header->begin(), header->end()), wanted.bytes) << wanted.name;
    }
}

TEST(Adts, EveryTruncationNeedsMore) {
    for (const AdtsCase& wanted : adts_cases())
        for (std::size_t size = 0; size < kAdtsHeaderBytes; ++size)
            EXPECT_EQ(parse_adts_header(Bytes(wanted.bytes).first(size)).code(), Errc::need_more)
                << wanted.name << " cut at " << size;
}

TEST(Adts, RefusesInvalidHeaders) {
    EXPECT_EQ(parse_adts_header(hex("ffe1508001 5ffc")).code(), Errc::malformed) << "sync word";
    EXPECT_EQ(parse_adts_header(hex("fff3508001 5ffc")).code(), Errc::malformed) << "layer, as in MP3";
    EXPECT_EQ(parse_adts_header(hex("fff1748001 5ffc")).code(), Errc::malformed) << "rate index 13";
    EXPECT_EQ(parse_adts_header(hex("fff1508000dffc")).code(), Errc::malformed) << "six bytes in all";
    EXPECT_EQ(parse_adts_header(hex("fff05080011ffc")).code(), Errc::malformed) << "eight bytes in all, with a checksum";
}

TEST(Adts, TakesFrameAfterFrame) {
    const auto stream = hex("fff1508001 5ffc 210a0b  fff8508001bffc 1234 210a0b0c  fff15080 00fffc");
    ByteReader in(stream);
    std::vector<std::vector<std::uint8_t>> frames;
    while (!in.at_end()) {
        const auto frame = read_adts_frame(in);
        ASSERT_TRUE(frame.ok()) << frame.error().text();
        EXPECT_EQ(frame->header.config, config_of(2, 44'100, 2));
        frames.emplace_back(frame->data.begin(), frame->data.end());
    }
    EXPECT_EQ(frames, (std::vector{hex("210a0b"), hex("210a0b0c"), hex("")})) << "without header and checksum";
}

TEST(Adts, TruncatedFrameNeedsMore) {
    const auto stream = hex("fff8508001bffc 1234 210a0b0c");
    for (std::size_t size = 0; size < stream.size(); ++size) {
        ByteReader in(Bytes(stream).first(size));
        EXPECT_EQ(read_adts_frame(in).code(), Errc::need_more) << "cut at " << size;
        EXPECT_EQ(in.position(), 0U);
    }
    const auto blocks = hex("fff15080015001 210a0b");
    ByteReader in(blocks);
    EXPECT_EQ(read_adts_frame(in).code(), Errc::unsupported);
    EXPECT_EQ(in.position(), 0U);
}

TEST(Adts, RefusesConfigurationsWithoutAnAdtsForm) {
    EXPECT_EQ(adts_header(config_of(5, 48'000, 2), 1).code(), Errc::unsupported) << "object type";
    EXPECT_EQ(adts_header(config_of(42, 48'000, 2), 1).code(), Errc::unsupported) << "USAC";
    EXPECT_EQ(adts_header(config_of(0, 48'000, 2), 1).code(), Errc::unsupported);
    EXPECT_EQ(adts_header(config_of(2, 44'168, 2), 1).code(), Errc::unsupported) << "rate";
    EXPECT_EQ(adts_header(config_of(2, 48'000, 0), 1).code(), Errc::unsupported) << "the layout stands in the configuration";
    EXPECT_EQ(adts_header(config_of(2, 48'000, 7), 1).code(), Errc::unsupported);
    EXPECT_EQ(adts_header(config_of(2, 48'000, 24), 1).code(), Errc::unsupported);
    EXPECT_TRUE(adts_header(config_of(2, 48'000, 2), kAdtsFrameBytesMax - kAdtsHeaderBytes).ok());
    EXPECT_EQ(adts_header(config_of(2, 48'000, 2), kAdtsFrameBytesMax - kAdtsHeaderBytes + 1).code(), Errc::limit);
}

TEST(Adts, DescribesHeAacByItsCore) {
    const AudioSpecificConfig config{
        .object_type = 2, .sample_rate = 24'000, .channels = 1, .sbr = true, .ps = true, .output_rate = 48'000};
    EXPECT_EQ(parse_adts_header(adts_header(config, 5).value())->config, config_of(2, 24'000, 1));
}

}  // namespace
}  // namespace live::wire::codec
