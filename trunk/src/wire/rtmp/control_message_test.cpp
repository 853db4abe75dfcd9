#include "wire/rtmp/control_message.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "wire/rtmp/chunk_reader.hpp"

namespace live::wire::rtmp {
namespace {

using Octets = std::vector<std::uint8_t>;

struct ControlVector {
    std::string name;
    MessageType type{};
    Octets payload;
    ControlMessage message;
};

const std::vector<ControlVector>& control_vectors() {
    using Event = UserControl::Event;
    static const std::vector<ControlVector> kVectors = {
        {"chunk_size", MessageType::set_chunk_size, {0, 0, 0x10, 0}, SetChunkSize{4096}},
        {"chunk_size_1", MessageType::set_chunk_size, {0, 0, 0, 1}, SetChunkSize{1}},
        {"chunk_size_largest", MessageType::set_chunk_size, {0x7F, 0xFF, 0xFF, 0xFF}, SetChunkSize{0x7FFFFFFF}},
        {"abort", MessageType::abort, {0, 0, 0, 6}, Abort{6}},
        {"acknowledgement", MessageType::acknowledgement, {0, 0x26, 0x25, 0xA0}, Acknowledgement{2'500'000}},
        {"window", MessageType::window_ack_size, {0, 0x26, 0x25, 0xA0}, WindowAckSize{2'500'000}},
        {"peer_bandwidth",
         MessageType::set_peer_bandwidth,
         {0, 0x26, 0x25, 0xA0, 2},
         SetPeerBandwidth{2'500'000, SetPeerBandwidth::Limit::dynamic}},
        {"stream_begin", MessageType::user_control, {0, 0, 0, 0, 0, 1}, UserControl{Event::stream_begin, 1, 0}},
        {"stream_eof", MessageType::user_control, {0, 1, 0, 0, 0, 1}, UserControl{Event::stream_eof, 1, 0}},
        {"buffer_length",
         MessageType::user_control,
         {0, 3, 0, 0, 0, 1, 0, 0, 3, 0xE8},
         UserControl{Event::set_buffer_length, 1, 1000}},
        {"ping_request", MessageType::user_control, {0, 6, 1, 2, 3, 4}, UserControl{Event::ping_request, 0x01020304, 0}},
        {"ping_response", MessageType::user_control, {0, 7, 1, 2, 3, 4}, UserControl{Event::ping_response, 0x01020304, 0}},
    };
    return kVectors;
}

TEST(ControlMessage, ParsesEveryVector) {
    for (const ControlVector& vector : control_vectors()) {
        SCOPED_TRACE(vector.name);
        const auto parsed = parse_control(vector.type, vector.payload);
        ASSERT_TRUE(parsed.ok()) << parsed.error().text();
        EXPECT_EQ(*parsed, vector.message);
    }
}

TEST(ControlMessage, EveryTruncationNeedsMore) {
    for (const ControlVector& vector : control_vectors()) {
        for (std::size_t size = 0; size < vector.payload.size(); ++size) {
            SCOPED_TRACE(vector.name + " of " + std::to_string(size));
            const auto parsed = parse_control(vector.type, Bytes(vector.payload).first(size));
            ASSERT_FALSE(parsed.ok());
            EXPECT_EQ(parsed.code(), Errc::need_more);
        }
    }
}

TEST(ControlMessage, WrittenControlReadsBackOnChunkStream2) {
    for (const ControlVector& vector : control_vectors()) {
        SCOPED_TRACE(vector.name);
        ByteWriter out;
        write_control(out, vector.message);
        ChunkReader reader;
        Bytes rest = out.written();
        const auto message = reader.read(rest);
        ASSERT_TRUE(message.ok() && message->has_value());
        EXPECT_TRUE(rest.empty());
        EXPECT_EQ((*message)->type, vector.type);
        EXPECT_EQ((*message)->chunk_stream, 2U);
        EXPECT_EQ((*message)->stream_id, 0U);
        const Bytes payload = (*message)->payload.bytes();
        EXPECT_EQ(Octets(payload.begin(), payload.end()), vector.payload);
    }
}

TEST(ControlMessage, RefusesInvalidValues) {
    EXPECT_EQ(parse_control(MessageType::set_chunk_size, Octets{0, 0, 0, 0}).code(), Errc::malformed);
    EXPECT_EQ(parse_control(MessageType::set_chunk_size, Octets{0x80, 0, 0, 0}).code(), Errc::malformed);
    EXPECT_EQ(parse_control(MessageType::set_peer_bandwidth, Octets{0, 0, 0, 1, 3}).code(), Errc::malformed);
    EXPECT_EQ(parse_control(MessageType::audio, Octets{0, 0, 0, 1}).code(), Errc::unsupported);
}

TEST(ControlMessage, CarriesUserEventsWithoutAName) {
    const auto parsed = parse_control(MessageType::user_control, Octets{0, 0x1A, 9});
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(std::get<UserControl>(*parsed).event, static_cast<UserControl::Event>(0x1A));
}

TEST(ControlMessage, OnlyTypes1To6AreControl) {
    EXPECT_FALSE(is_control(static_cast<MessageType>(0)));
    EXPECT_TRUE(is_control(MessageType::set_chunk_size));
    EXPECT_TRUE(is_control(MessageType::set_peer_bandwidth));
    EXPECT_FALSE(is_control(static_cast<MessageType>(7)));
    EXPECT_FALSE(is_control(MessageType::audio));
}

}  // namespace
}  // namespace live::wire::rtmp
