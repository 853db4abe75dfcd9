#include "wire/scte35/splice_info.hpp"

#include <gtest/gtest.h>

#include "wire/scte35/splice_info_vectors.hpp"
#include "wire/ts/crc32.hpp"

namespace live::wire::scte35 {
namespace {

std::vector<std::uint8_t> with_checksum(std::vector<std::uint8_t> section) {
    section.resize(section.size() - 4);
    const std::uint32_t crc = ts::crc32_mpeg2(section);
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        section.push_back(static_cast<std::uint8_t>(crc >> shift));
    return section;
}

TEST(SpliceInfo, ReadsTheSamplesOfTheStandard) {
    for (const SpliceVector& vector : splice_vectors()) {
        const auto info = parse_splice_info(vector.bytes);
        ASSERT_TRUE(info.ok()) << vector.name << ": " << info.error().text();
        EXPECT_TRUE(*info == vector.info) << vector.name;
    }
}

TEST(SpliceInfo, WritesTheSamplesOfTheStandard) {
    for (const SpliceVector& vector : splice_vectors()) {
        const auto written = write_splice_info(vector.info);
        EXPECT_TRUE(parse_splice_info(written).value() == vector.info) << vector.name;
        EXPECT_EQ(written == vector.bytes, vector.is_exact) << vector.name;
    }
}

TEST(SpliceInfo, NeedsTheWholeSection) {
    for (const SpliceVector& vector : splice_vectors())
        for (std::size_t size = 0; size < vector.bytes.size(); ++size)
            EXPECT_EQ(parse_splice_info(Bytes(vector.bytes).first(size)).code(), Errc::need_more) << vector.name << " " << size;
}

TEST(SpliceInfo, RejectsContradictingLengths) {
    for (const SpliceVector& vector : splice_vectors())
        for (std::size_t size = 3; size + 4 < vector.bytes.size(); ++size) {
            std::vector<std::uint8_t> cut(vector.bytes.begin(), vector.bytes.begin() + static_cast<std::ptrdiff_t>(size + 4));
            cut[2] = static_cast<std::uint8_t>(size + 1);
            EXPECT_EQ(parse_splice_info(with_checksum(cut)).code(), Errc::malformed) << vector.name << " " << size;
        }
}

TEST(SpliceInfo, RejectsOtherTablesVersionsAndChecksums) {
    auto section = splice_vectors().front().bytes;
    section.back() ^= 1U;
    EXPECT_EQ(parse_splice_info(section).code(), Errc::malformed);
    section.front() = 0;
    EXPECT_EQ(parse_splice_info(section).code(), Errc::malformed);
    section = splice_vectors().front().bytes;
    section[3] = 1;
    EXPECT_EQ(parse_splice_info(with_checksum(section)).code(), Errc::unsupported);
}

TEST(SpliceInfo, ReadsOnlyTheHeaderOfEncryptedSections) {
    auto section = splice_vectors().front().bytes;
    section[4] |= 0x80U;
    const auto info = parse_splice_info(with_checksum(section)).value();
    EXPECT_TRUE(info.encrypted);
    EXPECT_EQ(info.command, Command::splice_null);
    EXPECT_FALSE(splice_ticks(info));
}

// splice_command_length 0xFFF, as encoders of the first editions write it; and a break of two components.
TEST(SpliceInfo, ReadsCommandsOfUnknownLengthAndComponents) {
    auto section = splice_vectors()[1].bytes;
    section[11] |= 0x0FU;
    section[12] = 0xFF;
    EXPECT_TRUE(parse_splice_info(with_checksum(section)).value() == splice_vectors()[1].info);

    const auto components =
        hex("fc3025 00 0000000000 ff fff014 05 00000007 7f af 02 01 fe00015f90 02 7f fe00002328 0001 02 03 0000 00000000");
    auto sized = components;
    sized[2] = static_cast<std::uint8_t>(components.size() - 3);
    sized[12] = static_cast<std::uint8_t>(components.size() - 14 - 2 - 4);
    const auto insert = parse_splice_info(with_checksum(sized)).value().insert.value();
    EXPECT_EQ(insert.pts, 90'000u);
    EXPECT_EQ(insert.duration, (BreakDuration{true, 9'000}));
    EXPECT_EQ(insert.avails_expected, 3);
}

TEST(SpliceInfo, AdjustsTheTimeAndTheChecksum) {
    const auto section = splice_vectors()[1].bytes;
    const auto adjusted = with_adjustment(section, kTicksMask);
    const auto info = parse_splice_info(adjusted).value();
    EXPECT_EQ(splice_ticks(info), 0x7369'C02DU);
    EXPECT_EQ(with_adjustment(adjusted, 0), section);
}

TEST(SpliceInfo, ImmediateSplicesHaveNoTime) {
    SpliceInfo info{.command = Command::splice_insert, .insert = SpliceInsert{.event_id = 1, .immediate = true}};
    EXPECT_TRUE(parse_splice_info(write_splice_info(info)).value() == info);
    EXPECT_FALSE(splice_ticks(info));
    info = {.command = Command::time_signal};
    EXPECT_TRUE(parse_splice_info(write_splice_info(info)).value() == info);
    EXPECT_FALSE(splice_ticks(info));
    info = {.command = Command::splice_insert, .insert = SpliceInsert{.event_id = 9, .cancelled = true}};
    EXPECT_TRUE(parse_splice_info(write_splice_info(info)).value() == info);
    EXPECT_TRUE(cues_of(info).empty());
}

TEST(SpliceInfo, TellsBreaksFromOtherCues) {
    const auto cue = [](std::size_t vector) { return cues_of(splice_vectors()[vector].info).at(0); };
    EXPECT_EQ(cue(0).kind, CueKind::out);
    EXPECT_EQ(cue(0).ticks, 0x01A5'99B0U);
    EXPECT_EQ(cue(1).kind, CueKind::out);
    EXPECT_TRUE(cue(1).auto_return);
    EXPECT_EQ(cue(2).kind, CueKind::in);
    EXPECT_EQ(cue(2).event_id, cue(0).event_id);
    EXPECT_EQ(cues_of(splice_vectors()[3].info).size(), 2u);
    EXPECT_EQ(cue(3).kind, CueKind::other);
}

TEST(SpliceInfo, LeavesOutDescriptorsBeyondItsLimit) {
    SpliceInfo info{.command = Command::time_signal, .signal_pts = 1};
    info.segmentations.resize(kDescriptorsMax + 1);
    EXPECT_EQ(parse_splice_info(write_splice_info(info)).value().segmentations.size(), kDescriptorsMax);
}

}  // namespace
}  // namespace live::wire::scte35
