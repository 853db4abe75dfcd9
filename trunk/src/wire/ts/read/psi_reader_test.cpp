#include "wire/ts/read/psi_reader.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/ts/crc32.hpp"
#include "wire/ts/psi.hpp"
#include "wire/ts/read/section_reader.hpp"
#include "wire/ts/read/ts_builder_fixture.hpp"

namespace live::wire::ts {
namespace {

StreamFormat format_of(std::uint8_t type, const char* descriptors = "") {
    const auto map = parse_program_map(built_map(1, {{type, 0x100, hex(descriptors)}})).value();
    return map.streams.at(0).format;
}

TEST(PsiReader, ReadsMuxedStreams) {
    const auto association = parse_association(program_association_section()).value();
    EXPECT_EQ(association.programs, (std::vector<Association::Program>{{1, 0x1001}}));
    EXPECT_TRUE(association.current);
    const auto map = parse_program_map(program_map_section({StreamType::hevc, StreamType::opus, 6}, 3)).value();
    EXPECT_EQ(map.version, 3);
    EXPECT_EQ(map.program, 1);
    ASSERT_EQ(map.streams.size(), 2u);
    EXPECT_EQ(map.streams[0].format, StreamFormat::hevc);
    EXPECT_EQ(map.streams[1].format, StreamFormat::opus);
    EXPECT_EQ(map.streams[1].opus_channels, 6);
}

TEST(PsiReader, RecognisesStreamsByTypeAndDescriptors) {
    EXPECT_EQ(format_of(0x03), StreamFormat::mpeg_audio);
    EXPECT_EQ(format_of(0x04), StreamFormat::mpeg_audio);
    EXPECT_EQ(format_of(0x0F), StreamFormat::aac);
    EXPECT_EQ(format_of(0x11), StreamFormat::latm);
    EXPECT_EQ(format_of(0x1B), StreamFormat::avc);
    EXPECT_EQ(format_of(0x24), StreamFormat::hevc);
    EXPECT_EQ(format_of(0x81), StreamFormat::ac3);
    EXPECT_EQ(format_of(0x87), StreamFormat::eac3);
    EXPECT_EQ(format_of(0x86), StreamFormat::scte35);
    EXPECT_EQ(format_of(0x06), StreamFormat::unknown);
    EXPECT_EQ(format_of(0x06, "05 04 41432d33"), StreamFormat::ac3);
    EXPECT_EQ(format_of(0x06, "6a 01 00"), StreamFormat::ac3);
    EXPECT_EQ(format_of(0x06, "7a 01 00"), StreamFormat::eac3);
    EXPECT_EQ(format_of(0x06, "05 04 41563031"), StreamFormat::av1);
    EXPECT_EQ(format_of(0x06, "05 04 4b4c5641"), StreamFormat::klv);
    EXPECT_EQ(format_of(0x15, "26 0d ffff 49443320 ff 49443320 000f"), StreamFormat::id3);
    EXPECT_EQ(format_of(0x15, "26 09 0100 ff 4b4c5641 000f"), StreamFormat::klv);
    EXPECT_EQ(format_of(0x02), StreamFormat::unknown) << "MPEG-2 video";
    EXPECT_EQ(format_of(0x06, "05 40 41"), StreamFormat::unknown) << "a descriptor that does not fit";
}

TEST(PsiReader, WritesLanguages) {
    const auto map =
        parse_program_map(built_map(1, {{0x0F, 0x101, hex("0a 04 676572 00")}, {0x0F, 0x102, hex("0a 04 01ff0000")}}));
    EXPECT_EQ(map->streams.at(0).language, "ger");
    EXPECT_EQ(map->streams.at(1).language, "");
}

TEST(PsiReader, RefusesTruncatedAndInvalidInput) {
    const auto association = built_association({{1, 0x1000}, {2, 0x1010}});
    const auto map = built_map(7, {{0x1B, 0x100, {}}, {0x06, 0x101, hex("05 04 4f707573")}});
    for (std::size_t size = 0; size < association.size(); ++size)
        EXPECT_FALSE(parse_association(Bytes(association).first(size)).ok());
    for (std::size_t size = 0; size < map.size(); ++size)
        EXPECT_FALSE(parse_program_map(Bytes(map).first(size)).ok());
    for (std::size_t at = 0; at < map.size() * 8; ++at) {
        auto broken = map;
        broken[at / 8] ^= static_cast<std::uint8_t>(1U << at % 8);
        EXPECT_FALSE(parse_program_map(broken).ok()) << at;
    }
    EXPECT_FALSE(parse_program_map(association).ok());
}

TEST(PsiReader, TakesStreamsUpToItsLimit) {
    std::vector<BuiltStream> streams;
    for (std::uint16_t i = 0; i <= ProgramMap::kStreamsMax; ++i)
        streams.push_back({0x0F, static_cast<std::uint16_t>(0x100 + i), {}});
    EXPECT_EQ(parse_program_map(built_map(1, streams))->streams.size(), ProgramMap::kStreamsMax);
    streams.pop_back();
    EXPECT_EQ(parse_program_map(built_map(1, streams))->streams.size(), ProgramMap::kStreamsMax);
}

TEST(PsiReader, NoFormatFollowsFromDescriptorsThatAreTooShort) {
    EXPECT_EQ(format_of(0x06, "05 04 48455643"), StreamFormat::hevc);
    EXPECT_EQ(format_of(0x15, "26 02 ffff"), StreamFormat::unknown);
    EXPECT_EQ(format_of(0x15, "26 06 ffff 49443320"), StreamFormat::unknown);
    EXPECT_EQ(format_of(0x15, "26 07 0100 10 4b4c5641"), StreamFormat::unknown) << "a format with a number";
    EXPECT_EQ(format_of(0x15, "26 06 0100 ff 4b4c56"), StreamFormat::unknown);
    EXPECT_EQ(format_of(0x0F, "52 01 10"), StreamFormat::aac) << "one that says nothing to us";
}

TEST(PsiReader, ASectionHasRoomForItsChecksum) {
    // Only the fields before it, so that the checksum of four bytes covers some of them.
    std::vector<std::uint8_t> section = hex("00 b006 0001");
    const std::uint32_t checksum = crc32_mpeg2(section);
    for (const int shift : {24, 16, 8, 0})
        section.push_back(static_cast<std::uint8_t>(checksum >> shift));
    EXPECT_EQ(parse_association(section).code(), Errc::malformed);
}

TEST(PsiReader, EveryFormatHasAName) {
    std::set<std::string_view> names;
    for (int i = 0; i <= static_cast<int>(StreamFormat::klv); ++i)
        names.insert(name_of(static_cast<StreamFormat>(i)));
    EXPECT_EQ(names.size(), static_cast<std::size_t>(StreamFormat::klv) + 1);
    EXPECT_EQ(name_of(StreamFormat::latm), "AAC/LATM");
    EXPECT_EQ(name_of(StreamFormat::unknown), "unknown");
}

TEST(SectionReader, PutsSectionsTogetherAndTakesSeveralFromOnePacket) {
    const auto first = built_association({{1, 0x1000}});
    const auto second = built_section(0x42, 9, 0, std::vector<std::uint8_t>(400, 7));
    std::vector<std::uint8_t> payload = {0};
    for (const auto* section : {&first, &second})
        payload.insert(payload.end(), section->begin(), section->end());
    std::vector<std::vector<std::uint8_t>> out;
    SectionReader reader;
    reader.push(Bytes(payload).first(184), true, out);
    EXPECT_EQ(out.size(), 1u);
    reader.push(Bytes(payload).subspan(184, 184), false, out);
    EXPECT_GT(reader.held_bytes(), 0u);
    // The rest, with the pointer field of a packet in which another section begins.
    std::vector<std::uint8_t> last = {static_cast<std::uint8_t>(payload.size() - 368)};
    last.insert(last.end(), payload.begin() + 368, payload.end());
    last.insert(last.end(), first.begin(), first.end());
    last.resize(184, 0xFF);
    reader.push(last, true, out);
    EXPECT_EQ(out, (std::vector{first, second, first}));
    EXPECT_EQ(reader.held_bytes(), 0u);
}

TEST(SectionReader, HoldsNoMoreThanASection) {
    SectionReader reader;
    std::vector<std::vector<std::uint8_t>> out;
    std::vector<std::uint8_t> payload(184, 0);
    payload[1] = 0x42;
    payload[2] = 0xBF;
    payload[3] = 0xFF;
    reader.push(payload, true, out);
    for (int i = 0; i < 100; ++i) {
        reader.push(std::vector<std::uint8_t>(184, 0x11), false, out);
        EXPECT_LE(reader.held_bytes(), SectionReader::kSectionBytesMax + 184);
    }
    reader.push(hex("b7"), true, out);  // a pointer behind its packet
    EXPECT_EQ(reader.held_bytes(), 0u);
}

}  // namespace
}  // namespace live::wire::ts
