#include "engine/srt/packet.hpp"

#include <gtest/gtest.h>

#include "engine/srt/packet_vectors.hpp"
#include "engine/srt/transfer/sequence.hpp"

namespace live::engine::srt {
namespace {

TEST(SrtPacket, ReadsAndWritesDataVectors) {
    for (const DataVector& vector : data_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto packet = parse_packet(vector.bytes);
        ASSERT_TRUE(packet.ok());
        const auto& data = std::get<DataPacket>(*packet);
        EXPECT_EQ(data.header, vector.header);
        EXPECT_EQ(data.payload.size(), vector.bytes.size() - kHeaderBytes);
        std::vector<std::uint8_t> written(kHeaderBytes);
        write_header(data.header, written);
        written.insert(written.end(), data.payload.begin(), data.payload.end());
        EXPECT_EQ(written, vector.bytes);
        EXPECT_EQ(destination_of(vector.bytes), vector.header.to);
        EXPECT_FALSE(is_handshake(vector.bytes));
    }
}

TEST(SrtPacket, ReadsAndWritesControlVectors) {
    for (const ControlVector& vector : control_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto packet = parse_packet(vector.bytes);
        ASSERT_TRUE(packet.ok());
        const auto& control = std::get<ControlPacket>(*packet);
        EXPECT_EQ(control.header, vector.header);
        EXPECT_EQ(control.contents.size(), vector.contents);
        EXPECT_EQ(write_control(control.header, control.contents), vector.bytes);
        EXPECT_EQ(is_handshake(vector.bytes), vector.header.type == ControlType::handshake);
    }
}

TEST(SrtPacket, AControlPacketWithoutContentsHasFourZeroBytes) {
    for (const auto type : {ControlType::keepalive, ControlType::congestion_warning, ControlType::shutdown, ControlType::ack_ack,
                            ControlType::peer_error}) {
        const auto written = write_control({.type = type, .timestamp = 100, .to = SocketId{5}}, {});
        ASSERT_EQ(written.size(), kHeaderBytes + 4);
        EXPECT_EQ(std::vector<std::uint8_t>(written.begin() + kHeaderBytes, written.end()), std::vector<std::uint8_t>(4));
        const auto bare = parse_packet(Bytes(written).first(kHeaderBytes));
        ASSERT_TRUE(bare.ok()) << "those of older senders are read";
        EXPECT_EQ(std::get<ControlPacket>(*bare).header.type, type);
    }
}

TEST(SrtPacket, RefusesEveryTruncationOfAHeader) {
    for (const ControlVector& vector : control_vectors())
        for (std::size_t size = 0; size < kHeaderBytes; ++size) {
            const auto packet = parse_packet(Bytes(vector.bytes).first(size));
            ASSERT_FALSE(packet.ok());
            EXPECT_EQ(packet.code(), Errc::need_more);
            EXPECT_FALSE(destination_of(Bytes(vector.bytes).first(size)).has_value());
        }
}

TEST(SrtAck, HasThreeLengths) {
    const auto full = hex("0000002a 000186a0 0000c350 00001ffe 000000c8 000003e8 00040000");
    for (std::size_t size = 0; size <= full.size(); ++size) {
        const auto ack = parse_ack(Bytes(full).first(size));
        ASSERT_EQ(ack.ok(), size >= 4) << size;
        if (!ack.ok())
            continue;
        EXPECT_EQ(ack->next_sequence, 42U);
        EXPECT_EQ(ack->path.has_value(), size >= 16);
        EXPECT_EQ(ack->rates.has_value(), size >= 28);
        if (size == 4 || size == 16 || size == 28) {
            EXPECT_EQ(write_ack(*ack), std::vector<std::uint8_t>(full.begin(), full.begin() + static_cast<int>(size)));
        }
    }
    const auto ack = parse_ack(full);
    EXPECT_EQ(ack->path->rtt_us, 100'000U);
    EXPECT_EQ(ack->path->rtt_variance_us, 50'000U);
    EXPECT_EQ(ack->path->buffer_packets, 8'190U);
    EXPECT_EQ(ack->rates->packets_per_second, 200U);
    EXPECT_FALSE(parse_ack(hex("80000000")).ok());
}

TEST(SrtLossList, ReadsAndWritesRanges) {
    const auto bytes = hex("00000007 80000009 0000000c 7fffffff");
    const std::vector<SequenceRange> ranges = {{7, 7}, {9, 12}, {0x7FFF'FFFF, 0x7FFF'FFFF}};
    EXPECT_EQ(parse_loss_list(bytes).value(), ranges);
    EXPECT_EQ(write_loss_list(ranges), bytes);
    EXPECT_TRUE(parse_loss_list({}).value().empty());
    EXPECT_FALSE(parse_loss_list(hex("80000009")).ok());
    EXPECT_FALSE(parse_loss_list(hex("80000009 8000000c")).ok());
    EXPECT_FALSE(parse_loss_list(hex("0000")).ok());
}

TEST(SrtLossList, StopsAtItsBound) {
    const std::vector<SequenceRange> ranges(1'000, {1, 2});
    EXPECT_EQ(write_loss_list(ranges).size(), kPayloadBytesMax);
    EXPECT_EQ(write_loss_list(ranges, 20).size(), 16U);
}

TEST(SrtDropRequest, ReadsAndWrites) {
    const auto bytes = hex("00000010 00000020");
    EXPECT_EQ(parse_drop_request(bytes).value(), SequenceRange(16, 32));
    const auto written = write_drop_request({16, 32});
    EXPECT_EQ(std::vector<std::uint8_t>(written.begin(), written.end()), bytes);
    EXPECT_FALSE(parse_drop_request(Bytes(bytes).first(7)).ok());
    EXPECT_FALSE(parse_drop_request(hex("80000010 00000020")).ok());
}

TEST(SrtSequence, IsWidenedNearTheNewest) {
    const std::uint64_t first = first_position(kSequenceMask - 1);
    EXPECT_EQ(narrow_sequence(first), kSequenceMask - 1);
    EXPECT_EQ(widen_sequence(0, first), first + 2);
    EXPECT_EQ(widen_sequence(kSequenceMask - 1, first + 2), first);
    EXPECT_EQ(widen_sequence(kSequenceMask, first + 2), first + 1);
    EXPECT_EQ(narrow_sequence(first + 2), 0U);
    EXPECT_EQ(widen_timestamp(5, 0xFFFF'FFF0), 0x1'0000'0005);
    EXPECT_EQ(widen_timestamp(0xFFFF'FFF0, 0x1'0000'0005), 0xFFFF'FFF0);
}

}  // namespace
}  // namespace live::engine::srt
