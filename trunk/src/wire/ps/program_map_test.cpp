#include "wire/ps/program_map.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/ps/ps_builder_fixture.hpp"

namespace live::wire::ps {
namespace {

struct Vector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    std::vector<ProgramMap::Stream> streams;
    bool current;
};

// The second has descriptors of the program and of a stream; its checksum is computed.
std::vector<Vector> vectors() {
    const auto described = hex("000001bc 0013 61ff 0002 0a00 0007 24e0 0003 0a01 20");
    ByteWriter out;
    out.bytes(described).u32be(ts::crc32_mpeg2(described));
    return {{"video and audio", built_map({{0xE0, 0x1B}, {0xC0, 0x90}}), {{0xE0, 0x1B}, {0xC0, 0x90}}, true},
            {"descriptors, not current", out.release(), {{0xE0, 0x24}}, false},
            {"nothing", built_map({}), {}, true}};
}

TEST(ProgramMap, ReadsVectors) {
    for (const Vector& vector : vectors()) {
        const auto map = parse_program_map(vector.bytes);
        ASSERT_TRUE(map.ok()) << vector.name << ": " << map.error().text();
        EXPECT_EQ(map->streams, vector.streams) << vector.name;
        EXPECT_EQ(map->current, vector.current) << vector.name;
        EXPECT_TRUE(map->has_checksum) << vector.name;
    }
}

TEST(ProgramMap, EveryTruncationNeedsMore) {
    for (const Vector& vector : vectors())
        for (std::size_t size = 0; size < vector.bytes.size(); ++size)
            EXPECT_EQ(parse_program_map(Bytes(vector.bytes).first(size)).code(), Errc::need_more) << vector.name << ' ' << size;
}

TEST(ProgramMap, RefusesLengthsThatDisagree) {
    EXPECT_EQ(parse_program_map(hex("000001bc 0003 e1ff00")).code(), Errc::malformed) << "shorter than its checksum";
    EXPECT_EQ(parse_program_map(hex("000001bc 0004 00000000")).code(), Errc::malformed) << "no flags";
    EXPECT_EQ(parse_program_map(hex("000001bc 000a e1ff 0001 0000 00000000")).code(), Errc::malformed) << "descriptors";
    EXPECT_EQ(parse_program_map(hex("000001bc 000a e1ff 0000 0001 00000000")).code(), Errc::malformed) << "list";
    EXPECT_EQ(parse_program_map(hex("000001bc 000e e1ff 0000 0004 1be00001 00000000")).code(), Errc::malformed) << "stream";
    EXPECT_EQ(parse_program_map(hex("000001bd 0004 00000000")).code(), Errc::malformed) << "start code";
}

TEST(ProgramMap, DetectsWrongChecksums) {
    auto bytes = built_map({{0xE0, 0x1B}});
    bytes[12] ^= 0x3F;
    EXPECT_FALSE(parse_program_map(bytes)->has_checksum);
    EXPECT_FALSE(parse_program_map(built_map({{0xE0, 0x1B}}, false))->has_checksum);
}

TEST(ProgramMap, LeavesOutStreamsBeyondItsLimit) {
    std::vector<ProgramMap::Stream> streams(ProgramMap::kStreamsMax, {0xE0, 0x1B});
    EXPECT_EQ(parse_program_map(built_map(streams))->streams.size(), ProgramMap::kStreamsMax);
    streams.push_back({0xE0, 0x1B});
    EXPECT_EQ(parse_program_map(built_map(streams))->streams.size(), ProgramMap::kStreamsMax);
}

TEST(ProgramMap, NamesTheFormatsOfDevices) {
    EXPECT_EQ(format_of(0x1B), StreamFormat::avc);
    EXPECT_EQ(format_of(0x24), StreamFormat::hevc);
    EXPECT_EQ(format_of(0x0F), StreamFormat::aac);
    EXPECT_EQ(format_of(0x90), StreamFormat::g711a);
    EXPECT_EQ(format_of(0x91), StreamFormat::g711u);
    for (const std::uint8_t type : hex("80929399"))
        EXPECT_EQ(format_of(type), StreamFormat::other) << unsigned{type};
    EXPECT_EQ(name_of(StreamFormat::g711a), "G711A");
}

}  // namespace
}  // namespace live::wire::ps
