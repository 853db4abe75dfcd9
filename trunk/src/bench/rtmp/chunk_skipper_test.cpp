#include "bench/rtmp/chunk_skipper.hpp"

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/chunk_writer.hpp"
#include "wire/rtmp/control_message.hpp"

namespace live::bench {
namespace {

using wire::rtmp::MessageType;
using Octets = std::vector<std::uint8_t>;

struct Got {
    MessageType type{};
    std::uint32_t timestamp_ms = 0;
    Octets head;
    std::uint32_t length = 0;

    bool operator==(const Got&) const = default;
};

struct ChunkOutcome {
    std::vector<Got> messages;
    bool ok = true;
};

ChunkOutcome skip_chunks(Bytes input, std::size_t portion) {
    ChunkSkipper skipper;
    ChunkOutcome outcome;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        for (;;) {
            const auto message = skipper.read(part);
            if (!message.ok()) {
                outcome.ok = false;
                return outcome;
            }
            if (!*message)
                break;
            const SkippedMessage& got = **message;
            outcome.messages.push_back({got.type, got.timestamp_ms, Octets(got.head.begin(), got.head.end()), got.length});
        }
    }
    return outcome;
}

constexpr auto kAudioType = MessageType::audio;
constexpr auto kVideoType = MessageType::video;

struct ChunkVector {
    std::string name;
    Octets input;
    std::vector<Got> messages;
};

const std::vector<ChunkVector>& chunk_vectors() {
    static const std::vector<ChunkVector> kVectors = {
        {"type0", {0x04, 0, 0, 7, 0, 0, 2, 8, 1, 0, 0, 0, 0xAF, 1}, {{kAudioType, 7, {0xAF, 1}, 2}}},
        {"empty_message", {0x04, 0, 0, 7, 0, 0, 0, 8, 1, 0, 0, 0}, {{kAudioType, 7, {}, 0}}},
        {"type1_adds_the_delta",
         {0x04, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0x44, 0, 0, 3, 0, 0, 2, 9, 0xB0, 0xB1},
         {{kAudioType, 7, {0xA0}, 1}, {kVideoType, 10, {0xB0, 0xB1}, 2}}},
        {"type2_and_type3",
         {0x04, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0x84, 0, 0, 3, 0xA1, 0xC4, 0xA2},
         {{kAudioType, 7, {0xA0}, 1}, {kAudioType, 10, {0xA1}, 1}, {kAudioType, 13, {0xA2}, 1}}},
        {"chunk_size_2_and_interleaved_messages",
         {0x02, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0,    0,    0, 2,  //
          0x06, 0, 0, 7, 0, 0, 3, 9, 1, 0, 0, 0, 1,    2,           //
          0x04, 0, 0, 8, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0xC6, 3},
         {{MessageType::set_chunk_size, 0, {0, 0, 0, 2}, 4}, {kAudioType, 8, {0xA0}, 1}, {kVideoType, 7, {1, 2, 3}, 3}}},
        {"abort_forgets_a_message",
         {0x02, 0, 0, 0, 0, 0, 4, 1, 0,   0, 0, 0, 0, 0, 0, 4,  //
          0x06, 0, 0, 7, 0, 0, 5, 9, 1,   0, 0, 0, 1, 2, 3, 4,  //
          0x02, 0, 0, 0, 0, 0, 4, 2, 0,   0, 0, 0, 0, 0, 0, 6,  //
          0x46, 0, 0, 1, 0, 0, 1, 9, 0xB0},
         {{MessageType::set_chunk_size, 0, {0, 0, 0, 4}, 4},
          {MessageType::abort, 0, {0, 0, 0, 6}, 4},
          {kVideoType, 8, {0xB0}, 1}}},
        {"three_byte_chunk_stream_id", {0x01, 1, 2, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0}, {{kAudioType, 7, {0xA0}, 1}}},
        {"extended_time",
         {0x04, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8, 1, 0, 0, 0, 1, 2, 3, 4, 0xA0},
         {{kAudioType, 0x01020304, {0xA0}, 1}}},
    };
    return kVectors;
}

TEST(ChunkSkipper, ReadsTheVectorsHoweverTheyAreCut) {
    for (const ChunkVector& vector : chunk_vectors()) {
        for (std::size_t portion = 1; portion <= vector.input.size(); ++portion) {
            const auto outcome = skip_chunks(vector.input, portion);
            EXPECT_TRUE(outcome.ok) << vector.name;
            EXPECT_EQ(outcome.messages, vector.messages) << vector.name << " in portions of " << portion;
        }
    }
}

TEST(ChunkSkipper, TruncatedInputGivesFewerMessages) {
    for (const ChunkVector& vector : chunk_vectors()) {
        for (std::size_t size = 0; size < vector.input.size(); ++size) {
            const auto outcome = skip_chunks(Bytes(vector.input).first(size), 7);
            EXPECT_TRUE(outcome.ok) << vector.name;
            EXPECT_LT(outcome.messages.size(), vector.messages.size()) << vector.name;
        }
    }
}

TEST(ChunkSkipper, KeepsTheFirstBytesOfMediaAndAllOfACommand) {
    Octets payload(1000);
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::uint8_t>(i * 7);
    ByteWriter out;
    wire::rtmp::write_message(out, 6, kVideoType, 40, 1, payload, 128);
    wire::rtmp::write_message(out, 3, MessageType::amf0_command, 0, 0, payload, 128);
    const auto outcome = skip_chunks(out.written(), 100);
    ASSERT_EQ(outcome.messages.size(), 2U);
    EXPECT_EQ(outcome.messages[0].head, Octets(payload.begin(), payload.begin() + ChunkSkipper::kHeadBytes));
    EXPECT_EQ(outcome.messages[0].length, 1000U);
    EXPECT_EQ(outcome.messages[1].head, payload);
}

TEST(ChunkSkipper, RefusesType3BeforeAnyHeader) { EXPECT_FALSE(skip_chunks(Octets{0xC4, 1, 2, 3}, 100).ok); }

TEST(ChunkSkipper, RefusesANewHeaderInsideAMessage) {
    ByteWriter out;
    wire::rtmp::write_message(out, 6, kVideoType, 0, 1, Octets(200), 128);
    Octets cut(out.written().begin(), out.written().begin() + 12 + 128);
    cut.insert(cut.end(), {0x06, 0, 0, 7, 0, 0, 1, 9, 1, 0, 0, 0, 1});
    EXPECT_FALSE(skip_chunks(cut, 1000).ok);
}

TEST(ChunkSkipper, LimitsControlMessages) {
    const auto command_of = [](std::size_t bytes) {
        ByteWriter out;
        wire::rtmp::write_message(out, 3, MessageType::amf0_command, 0, 0, Octets(bytes), 128);
        return out.release();
    };
    EXPECT_TRUE(skip_chunks(command_of(ChunkSkipper::kWholeBytesMax), 4096).ok);
    EXPECT_FALSE(skip_chunks(command_of(ChunkSkipper::kWholeBytesMax + 1), 4096).ok);
}

TEST(ChunkSkipper, LimitsTheNumberOfChunkStreams) {
    ByteWriter out;
    for (std::uint32_t stream = 0; stream < ChunkSkipper::kChunkStreamsMax; ++stream)
        wire::rtmp::write_message(out, 2 + stream, kAudioType, 0, 1, Octets(1), 128);
    EXPECT_TRUE(skip_chunks(out.written(), 4096).ok);
    wire::rtmp::write_message(out, 2 + ChunkSkipper::kChunkStreamsMax, kAudioType, 0, 1, Octets(1), 128);
    EXPECT_FALSE(skip_chunks(out.written(), 4096).ok);
}

// A long stream as a server sends it, in random portions: the reader of wire/rtmp must read the same messages.
TEST(ChunkSkipper, AgreesWithTheReaderThatKeepsPayload) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        ByteWriter out;
        for (int i = 0; i < 200; ++i) {
            const auto type = random() % 2 == 0 ? kAudioType : kVideoType;
            const auto time =
                static_cast<std::uint32_t>(random() % 10 == 0 ? 0xFFFFFF + random() % 100 : static_cast<unsigned>(i) * 20);
            wire::rtmp::write_message(out, type == kAudioType ? 4 : 6, type, time, 1, Octets(random() % 2000, 0x11), 128);
        }
        wire::rtmp::ChunkReader reader;
        Bytes rest = out.written();
        std::vector<std::tuple<MessageType, std::uint32_t, std::size_t>> expected;
        for (;;) {
            const auto message = reader.read(rest);
            ASSERT_TRUE(message.ok());
            if (!*message)
                break;
            expected.emplace_back((*message)->type, (*message)->timestamp_ms, (*message)->payload.size());
        }
        std::vector<std::tuple<MessageType, std::uint32_t, std::size_t>> got;
        for (const Got& message : skip_chunks(out.written(), 1 + random() % 3000).messages)
            got.emplace_back(message.type, message.timestamp_ms, message.length);
        EXPECT_EQ(got, expected) << "seed " << seed;
    }
}

}  // namespace
}  // namespace live::bench
