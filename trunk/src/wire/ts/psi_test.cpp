#include "wire/ts/psi.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::ts {
namespace {

TEST(ProgramTables, AssociationSectionContainsTheMapPid) {
    // table 0, length 13, transport stream 1, version 0, section 0 of 0, program 1 at PID 0x1001
    const auto section = program_association_section();
    EXPECT_EQ(std::vector(section.begin(), section.end() - 4), hex("00 b00d 0001 c1 00 00 0001 f001"));
    EXPECT_EQ(crc32_mpeg2(section), 0u);
}

TEST(ProgramTables, MapSectionListsTheStreams) {
    struct PsiCase {
        const char* name;
        Tracks tracks;
        std::uint8_t version;
        std::vector<std::uint8_t> wanted;
    };
    const PsiCase cases[] = {
        {"H.264 and AAC",
         {StreamType::avc, StreamType::aac},
         0,
         hex("02 b017 0001 c1 00 00 e100 f000 1b e100 f000 0f e101 f000")},
        {"HEVC and MP3",
         {StreamType::hevc, StreamType::mp3},
         1,
         hex("02 b017 0001 c3 00 00 e100 f000 24 e100 f000 03 e101 f000")},
        {"pictures only", {StreamType::avc, {}}, 2, hex("02 b012 0001 c5 00 00 e100 f000 1b e100 f000")},
        {"audio only brings the clock itself", {{}, StreamType::aac}, 31, hex("02 b012 0001 ff 00 00 e101 f000 0f e101 f000")},
        {"H.264 and AC-3",
         {StreamType::avc, StreamType::ac3},
         0,
         hex("02 b01d 0001 c1 00 00 e100 f000 1b e100 f000 81 e101 f006 0504 41432d33")},
        {"Opus of two channels",
         {{}, StreamType::opus, 2},
         0,
         hex("02 b01c 0001 c1 00 00 e101 f000 06 e101 f00a 0504 4f707573 7f02 8002")},
        {"nothing yet", {}, 0, hex("02 b00d 0001 c1 00 00 e101 f000")},
    };
    for (const PsiCase& wanted : cases) {
        const auto section = program_map_section(wanted.tracks, wanted.version);
        EXPECT_EQ(std::vector(section.begin(), section.end() - 4), wanted.wanted) << wanted.name;
        EXPECT_EQ(crc32_mpeg2(section), 0u) << wanted.name;
    }
}

}  // namespace
}  // namespace live::wire::ts
