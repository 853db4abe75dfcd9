#include "wire/rtmp/chunk_writer.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::wire::rtmp {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets octets(const HeaderBytes& header) { return {header.view().begin(), header.view().end()}; }

TEST(ChunkWriter, Type0HasAllFields) {
    EXPECT_EQ(octets(type0_header(6, 0x010203, 0x040506, MessageType::video, 1)),
              (Octets{0x06, 1, 2, 3, 4, 5, 6, 9, 1, 0, 0, 0}));
}

TEST(ChunkWriter, StreamIdIsLittleEndian) {
    EXPECT_EQ(octets(type0_header(3, 0, 0, MessageType::amf0_command, 0x01020304)),
              (Octets{0x03, 0, 0, 0, 0, 0, 0, 20, 4, 3, 2, 1}));
}

TEST(ChunkWriter, LargestShortTimestampIsNotExtended) {
    EXPECT_EQ(octets(type0_header(4, 0xFFFFFE, 1, MessageType::audio, 1)),
              (Octets{0x04, 0xFF, 0xFF, 0xFE, 0, 0, 1, 8, 1, 0, 0, 0}));
}

TEST(ChunkWriter, TimestampsFrom0xFFFFFFAreExtended) {
    EXPECT_EQ(octets(type0_header(4, 0xFFFFFF, 1, MessageType::audio, 1)),
              (Octets{0x04, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8, 1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF}));
    EXPECT_EQ(octets(type0_header(4, 0xFFFFFFFF, 1, MessageType::audio, 1)),
              (Octets{0x04, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF}));
}

TEST(ChunkWriter, Type1HasTheDelta) {
    EXPECT_EQ(octets(type1_header(4, 23, 0x0102, MessageType::audio)), (Octets{0x44, 0, 0, 23, 0, 1, 2, 8}));
}

TEST(ChunkWriter, Type3IsOneByteUnlessTheTimeIsExtended) {
    EXPECT_EQ(octets(type3_header(6)), (Octets{0xC6}));
    EXPECT_EQ(octets(type3_header(6, 0x01020304)), (Octets{0xC6, 1, 2, 3, 4}));
}

TEST(ChunkWriter, ChunkStreamIdsTakeOneTwoOrThreeBytes) {
    EXPECT_EQ(octets(type3_header(2)), (Octets{0xC2}));
    EXPECT_EQ(octets(type3_header(63)), (Octets{0xFF}));
    EXPECT_EQ(octets(type3_header(64)), (Octets{0xC0, 0}));
    EXPECT_EQ(octets(type3_header(319)), (Octets{0xC0, 255}));
    EXPECT_EQ(octets(type3_header(320)), (Octets{0xC1, 0, 1}));
    EXPECT_EQ(octets(type3_header(65'599)), (Octets{0xC1, 255, 255}));
}

TEST(ChunkWriter, TheLongestHeaderIs18Bytes) {
    EXPECT_EQ(type0_header(65'599, 0xFFFFFFFF, kMessageLengthMax, MessageType::video, 1).size, 18);
}

TEST(ChunkWriterDeathTest, AbortsOnInvalidArguments) {
    EXPECT_DEATH(type3_header(1), "CHECK failed");
    EXPECT_DEATH(type3_header(65'600), "CHECK failed");
    EXPECT_DEATH(type1_header(4, 0xFFFFFF, 1, MessageType::audio), "CHECK failed");
    EXPECT_DEATH(type0_header(4, 0, kMessageLengthMax + 1, MessageType::audio, 1), "CHECK failed");
}

TEST(ChunkWriter, CutsAMessageAtTheChunkSize) {
    const Octets payload{1, 2, 3, 4, 5};
    ByteWriter out;
    EXPECT_EQ(write_message(out, 3, MessageType::amf0_command, 7, 0, payload, 2), 12U + 2 + 1 + 2 + 1 + 1);
    EXPECT_EQ(Octets(out.written().begin(), out.written().end()),
              (Octets{0x03, 0, 0, 7, 0, 0, 5, 20, 0, 0, 0, 0, 1, 2, 0xC3, 3, 4, 0xC3, 5}));
}

TEST(ChunkWriter, RepeatsTheExtendedTimeInEveryChunk) {
    const Octets payload{1, 2};
    ByteWriter out;
    write_message(out, 3, MessageType::amf0_data, 0x01000000, 1, payload, 1);
    EXPECT_EQ(Octets(out.written().begin(), out.written().end()),
              (Octets{0x03, 0xFF, 0xFF, 0xFF, 0, 0, 2, 18, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xC3, 1, 0, 0, 0, 2}));
}

TEST(ChunkWriter, AMessageOfExactlyOneChunkHasNoType3) {
    const Octets payload(128, 0xAB);
    ByteWriter out;
    EXPECT_EQ(write_message(out, 3, MessageType::amf0_command, 0, 0, payload, 128), 12U + 128);
}

TEST(ChunkWriter, AnEmptyMessageIsItsHeader) {
    ByteWriter out;
    EXPECT_EQ(write_message(out, 3, MessageType::amf0_command, 0, 0, {}, 128), 12U);
}

}  // namespace
}  // namespace live::wire::rtmp
