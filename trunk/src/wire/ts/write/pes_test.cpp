#include "wire/ts/write/pes.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::ts {
namespace {

std::vector<std::uint8_t> bytes_of(const PesHeader& header) { return {header.view().begin(), header.view().end()}; }

TEST(PesHeader, WritesOneTimeWhenBothAreEqual) {
    EXPECT_EQ(bytes_of(pes_header(PesStream::audio, {.pts = 1s, .dts = {}}, 100)),
              hex("000001 c0 006c 84 80 05 21 0005 bf21"));  // 90,000 = 0b10'101111110010000
}

TEST(PesHeader, WritesBothTimesWhenTheyDiffer) {
    EXPECT_EQ(bytes_of(pes_header(PesStream::video, {.pts = 1s, .dts = 0s}, 1)),
              hex("000001 e0 000e 84 c0 0a 31 0005 bf21 11 0001 0001"));
}

TEST(PesHeader, WritesAllBitsOfATime) {
    EXPECT_EQ(bytes_of(pes_header(PesStream::audio, {.pts = -1us, .dts = {}}, 1)), hex("000001 c0 0009 84 80 05 2f ffff ffff"));
}

TEST(PesHeader, LeavesTheLengthOutOnlyOfLongFrames) {
    const auto length = [](std::size_t bytes) {
        const PesHeader header = pes_header(PesStream::video, {.pts = 1s, .dts = 0s}, bytes);
        return header.storage[4] << 8 | header.storage[5];
    };
    EXPECT_EQ(length(kPesPayloadBytesMax), 65'535);
    EXPECT_EQ(length(kPesPayloadBytesMax + 1), 0);
    EXPECT_EQ(pes_header(PesStream::audio, {.pts = 1s, .dts = {}}, kPesPayloadBytesMax).size, 14);
}

TEST(PesHeaderDeathTest, LongAudioAborts) {
    EXPECT_DEATH(pes_header(PesStream::audio, {.pts = 1s, .dts = {}}, kPesPayloadBytesMax + 1), "CHECK failed");
}

}  // namespace
}  // namespace live::wire::ts
