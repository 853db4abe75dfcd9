#include "wire/codec/audio/aac.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

struct ConfigCase {
    const char* name;
    std::vector<std::uint8_t> bytes;
    AudioSpecificConfig config;
    std::size_t needed;  // the minimum number of bytes to parse it
    bool canonical = true;
};

const std::vector<ConfigCase>& cases() {
    static const std::vector<ConfigCase> table = {
        {"low complexity, 44.1 kHz, stereo", hex("1210"), {2, 44'100, 2, false, false, 44'100}, 2},
        {"low complexity, 48 kHz, stereo", hex("1190"), {2, 48'000, 2, false, false, 48'000}, 2},
        {"main, 8 kHz, mono", hex("0d88"), {1, 8'000, 1, false, false, 8'000}, 2},
        {"5.1", hex("11b0"), {2, 48'000, 6, false, false, 48'000}, 2},
        {"7.1", hex("11b8"), {2, 48'000, 8, false, false, 48'000}, 2},
        {"channels in the stream", hex("1180"), {2, 48'000, 0, false, false, 48'000}, 2},
        {"odd rate in 24 bits", hex("1780564410"), {2, 44'168, 2, false, false, 44'168}, 5},
        {"SBR announced openly", hex("2b118800"), {2, 24'000, 2, true, false, 48'000}, 3},
        {"parametric stereo", hex("eb098800"), {2, 24'000, 1, true, true, 48'000}, 3},
        {"SBR announced behind, as ffmpeg writes", hex("139056e5a0"), {2, 22'050, 2, false, false, 22'050}, 2, false},
        {"object type 42", hex("f956e0"), {42, 8'000, 8, false, false, 8'000}, 3, false},
    };
    return table;
}

TEST(AacConfig, ReadsEveryVector) {
    for (const ConfigCase& wanted : cases()) {
        const auto config = parse_aac_config(wanted.bytes);
        ASSERT_TRUE(config.ok()) << wanted.name << ": " << config.error().text();
        EXPECT_EQ(config->object_type, wanted.config.object_type) << wanted.name;
        EXPECT_EQ(config->sample_rate, wanted.config.sample_rate) << wanted.name;
        EXPECT_EQ(config->channels, wanted.config.channels) << wanted.name;
        EXPECT_EQ(config->output_rate, wanted.config.output_rate) << wanted.name;
        EXPECT_EQ(*config, wanted.config) << wanted.name;
    }
}

TEST(AacConfig, RoundTrips) {
    for (const ConfigCase& wanted : cases()) {
        if (!wanted.canonical)
            continue;
        ByteWriter out;
        write_aac_config(out, wanted.config);
        EXPECT_EQ(out.release(), wanted.bytes) << wanted.name;
    }
}

TEST(AacConfig, EveryTruncationNeedsMore) {
    for (const ConfigCase& wanted : cases())
        for (std::size_t size = 0; size < wanted.needed; ++size)
            EXPECT_EQ(parse_aac_config(Bytes(wanted.bytes).first(size)).code(), Errc::need_more)
                << wanted.name << " cut at " << size;
}

TEST(AacConfig, RefusesReservedValues) {
    EXPECT_EQ(parse_aac_config(hex("1690")).code(), Errc::malformed) << "rate index 13";
    EXPECT_EQ(parse_aac_config(hex("1710")).code(), Errc::malformed) << "rate index 14";
    EXPECT_EQ(parse_aac_config(hex("1780000010")).code(), Errc::malformed) << "rate zero";
    EXPECT_EQ(parse_aac_config(hex("11c0")).code(), Errc::malformed) << "channel configuration 8";
    EXPECT_EQ(parse_aac_config(hex("11f8")).code(), Errc::malformed) << "channel configuration 15";
}

// ISO/IEC 14496-3, table 1.19.
TEST(AacConfig, HasTheChannelsOfEveryConfiguration) {
    constexpr std::array<std::uint8_t, 16> kChannels{0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8, 0};
    for (std::uint8_t i = 0; i < kChannels.size(); ++i) {
        const auto config = parse_aac_config(std::vector<std::uint8_t>{0x12, static_cast<std::uint8_t>(i << 3)});
        const bool reserved = i == 8 || i == 9 || i == 10 || i == 15;
        ASSERT_EQ(config.ok(), !reserved) << int{i};
        if (!reserved) {
            EXPECT_EQ(config->channels, kChannels[i]) << int{i};
        }
    }
}

}  // namespace
}  // namespace live::wire::codec
