#include "wire/rtmp/chunk_reader.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "wire/rtmp/chunk_writer.hpp"

namespace live::wire::rtmp {
namespace {

using Octets = std::vector<std::uint8_t>;

struct Expected {
    MessageType type{};
    std::uint32_t timestamp_ms = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t chunk_stream = 0;
    Octets payload;

    bool operator==(const Expected&) const = default;
};

struct Vector {
    std::string name;
    std::uint32_t chunk_size = 0;
    Octets input;
    std::vector<Expected> messages;
};

constexpr auto kAudio = MessageType::audio;
constexpr auto kVideo = MessageType::video;

// Names are referenced by chunk_reader.cpp and the conformance page.
const std::vector<Vector>& vectors() {
    static const std::vector<Vector> kVectors = {
        {"type0", 128, {0x04, 0, 0, 7, 0, 0, 2, 8, 1, 0, 0, 0, 0xAF, 1}, {{kAudio, 7, 1, 4, {0xAF, 1}}}},
        {"empty_message", 128, {0x04, 0, 0, 7, 0, 0, 0, 8, 1, 0, 0, 0}, {{kAudio, 7, 1, 4, {}}}},
        {"type1_adds_the_delta",
         128,
         {0x04, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0x44, 0, 0, 3, 0, 0, 2, 9, 0xB0, 0xB1},
         {{kAudio, 7, 1, 4, {0xA0}}, {kVideo, 10, 1, 4, {0xB0, 0xB1}}}},
        {"type2_keeps_length_and_type",
         128,
         {0x04, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0x84, 0, 0, 3, 0xA1},
         {{kAudio, 7, 1, 4, {0xA0}}, {kAudio, 10, 1, 4, {0xA1}}}},
        {"type3_repeats_the_delta",
         128,
         {0x04, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0x84, 0, 0, 3, 0xA1, 0xC4, 0xA2},
         {{kAudio, 7, 1, 4, {0xA0}}, {kAudio, 10, 1, 4, {0xA1}}, {kAudio, 13, 1, 4, {0xA2}}}},
        {"type3_after_type0_takes_its_time_as_delta",
         128,
         {0x04, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0xC4, 0xA1},
         {{kAudio, 7, 1, 4, {0xA0}}, {kAudio, 14, 1, 4, {0xA1}}}},
        {"type1_opens_a_chunk_stream", 128, {0x42, 0, 0, 5, 0, 0, 1, 4, 9}, {{MessageType::user_control, 5, 0, 2, {9}}}},
        {"three_chunks",
         2,
         {0x04, 0, 0, 7, 0, 0, 5, 8, 1, 0, 0, 0, 1, 2, 0xC4, 3, 4, 0xC4, 5},
         {{kAudio, 7, 1, 4, {1, 2, 3, 4, 5}}}},
        {"chunk_size_1", 1, {0x04, 0, 0, 7, 0, 0, 3, 8, 1, 0, 0, 0, 1, 0xC4, 2, 0xC4, 3}, {{kAudio, 7, 1, 4, {1, 2, 3}}}},
        {"interleaved",
         2,
         {0x06, 0, 0, 7, 0, 0, 3, 9, 1, 0, 0, 0, 1, 2, 0x04, 0, 0, 8, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0xC6, 3},
         {{kAudio, 8, 1, 4, {0xA0}}, {kVideo, 7, 1, 6, {1, 2, 3}}}},
        {"two_byte_chunk_stream_id", 128, {0x00, 1, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0}, {{kAudio, 7, 1, 65, {0xA0}}}},
        {"three_byte_chunk_stream_id", 128, {0x01, 1, 2, 0, 0, 7, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0}, {{kAudio, 7, 1, 577, {0xA0}}}},
        {"ext_ts", 128, {0x04, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8, 1, 0, 0, 0, 1, 2, 3, 4, 0xA0}, {{kAudio, 0x01020304, 1, 4, {0xA0}}}},
        {"ext_ts_repeated_in_type3",
         2,
         {0x04, 0xFF, 0xFF, 0xFF, 0, 0, 3, 8, 1, 0, 0, 0, 1, 2, 3, 4, 0xA0, 0xA1, 0xC4, 1, 2, 3, 4, 0xA2},
         {{kAudio, 0x01020304, 1, 4, {0xA0, 0xA1, 0xA2}}}},
        {"ext_ts_absent_type3",
         2,
         {0x04, 0xFF, 0xFF, 0xFF, 0, 0, 3, 8, 1, 0, 0, 0, 1, 2, 3, 4, 0xA0, 0xA1, 0xC4, 0xA2},
         {{kAudio, 0x01020304, 1, 4, {0xA0, 0xA1, 0xA2}}}},
        // The payload begins like the timestamp, so that the two differ only at the third byte, two headers later.
        {"ext_ts_absent_type3_with_a_likely_payload",
         1,
         {0x04, 0xFF, 0xFF, 0xFF, 0, 0, 3, 8, 1, 0, 0, 0, 0xA1, 0xC4, 9, 9, 7, 0xC4, 0xA1, 0xC4, 0xA2},
         {{kAudio, 0xA1C40909, 1, 4, {7, 0xA1, 0xA2}}}},
        {"ext_delta",
         128,
         {0x04, 0, 0, 1, 0, 0, 1, 8, 1, 0, 0, 0, 0xA0, 0x84, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0xA1, 0xC4, 1, 0, 0, 0, 0xA2},
         {{kAudio, 1, 1, 4, {0xA0}}, {kAudio, 0x01000001, 1, 4, {0xA1}}, {kAudio, 0x02000001, 1, 4, {0xA2}}}},
        {"time_wraps",
         128,
         {0x04, 0xFF, 0xFF, 0xFF, 0, 0, 1, 8, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xA0, 0x84, 0, 0, 3, 0xA1},
         {{kAudio, 0xFFFFFFFF, 1, 4, {0xA0}}, {kAudio, 2, 1, 4, {0xA1}}}},
    };
    return kVectors;
}

struct Outcome {
    std::vector<Expected> messages;
    std::optional<Error> error;
};

void feed(ChunkReader& reader, Bytes input, Outcome& outcome) {
    while (!outcome.error) {
        auto message = reader.read(input);
        if (!message.ok()) {
            outcome.error = message.error();
        } else if (!message->has_value()) {
            EXPECT_TRUE(input.empty());
            return;
        } else {
            const Message& got = **message;
            outcome.messages.push_back({got.type, got.timestamp_ms, got.stream_id, got.chunk_stream,
                                        Octets(got.payload.bytes().begin(), got.payload.bytes().end())});
        }
    }
}

Outcome read_all(Bytes input, std::uint32_t chunk_size, ChunkReader::Limits limits = {}) {
    ChunkReader reader(limits);
    reader.set_chunk_size(chunk_size);
    Outcome outcome;
    feed(reader, input, outcome);
    return outcome;
}

TEST(ChunkReader, ReadsEveryVector) {
    for (const Vector& vector : vectors()) {
        SCOPED_TRACE(vector.name);
        const Outcome outcome = read_all(vector.input, vector.chunk_size);
        EXPECT_FALSE(outcome.error) << outcome.error->text();
        EXPECT_EQ(outcome.messages, vector.messages);
    }
}

TEST(ChunkReader, ReadsEveryVectorCutInTwoAtEveryByte) {
    for (const Vector& vector : vectors()) {
        for (std::size_t cut = 0; cut <= vector.input.size(); ++cut) {
            SCOPED_TRACE(vector.name + " cut at " + std::to_string(cut));
            ChunkReader reader;
            reader.set_chunk_size(vector.chunk_size);
            Outcome outcome;
            feed(reader, Bytes(vector.input).first(cut), outcome);
            // A truncation is never an error and never yields an extra message.
            EXPECT_FALSE(outcome.error);
            EXPECT_LE(outcome.messages.size(), vector.messages.size());
            feed(reader, Bytes(vector.input).subspan(cut), outcome);
            EXPECT_EQ(outcome.messages, vector.messages);
        }
    }
}

TEST(ChunkReader, ReadsEveryVectorByteByByte) {
    for (const Vector& vector : vectors()) {
        SCOPED_TRACE(vector.name);
        ChunkReader reader;
        reader.set_chunk_size(vector.chunk_size);
        Outcome outcome;
        for (const std::uint8_t& byte : vector.input)
            feed(reader, Bytes(&byte, 1), outcome);
        EXPECT_FALSE(outcome.error);
        EXPECT_EQ(outcome.messages, vector.messages);
    }
}

TEST(ChunkReader, ReadsWrittenChunksAtAnySizeAndCut) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 engine(seed);
        const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
        const std::uint32_t chunk_size = 1 + random() % 200;
        std::vector<Expected> sent;
        ByteWriter out;
        for (int i = 0; i < 20; ++i) {
            Expected message{kVideo, random(), 1, 2 + random() % 60, Octets(random() % 700)};
            for (std::uint8_t& byte : message.payload)
                byte = static_cast<std::uint8_t>(random());
            write_message(out, message.chunk_stream, message.type, message.timestamp_ms, 1, message.payload, chunk_size);
            sent.push_back(std::move(message));
        }
        ChunkReader reader;
        reader.set_chunk_size(chunk_size);
        Outcome outcome;
        for (Bytes rest = out.written(); !rest.empty();) {
            const std::size_t count = std::min<std::size_t>(rest.size(), 1 + random() % 300);
            feed(reader, rest.first(count), outcome);
            rest = rest.subspan(count);
        }
        EXPECT_FALSE(outcome.error);
        EXPECT_EQ(outcome.messages, sent);
    }
}

TEST(ChunkReader, AudioAndFramesThatFollowEachOtherShareABlock) {
    constexpr std::uint32_t kChunkSize = 60'000;
    const auto length = [](std::size_t i) { return i % 7 == 3 ? ChunkReader::kSharedBytesMax + i % 2 : 100 + i; };
    const auto type = [](std::size_t i) { return i % 5 == 2 ? MessageType::amf0_data : i % 2 == 0 ? kAudio : kVideo; };
    ChunkReader reader;
    reader.set_chunk_size(kChunkSize);
    std::vector<Slice> got;
    for (std::size_t i = 0; i < 100; ++i) {
        ByteWriter writer;
        write_message(writer, 4, type(i), 0, 1, Octets(length(i), static_cast<std::uint8_t>(i)), kChunkSize);
        Bytes input = writer.written();
        auto message = reader.read(input);
        ASSERT_TRUE(message.ok() && message->has_value());
        got.push_back(std::move((*message)->payload));
    }
    std::size_t blocks = 0;
    const void* block = nullptr;
    for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].size(), length(i));
        ASSERT_TRUE(std::ranges::all_of(got[i].bytes(), [i](std::uint8_t octet) { return octet == i; })) << i;
        const bool shares = type(i) != MessageType::amf0_data && length(i) <= ChunkReader::kSharedBytesMax;
        EXPECT_EQ(got[i].memory_bytes(), shares ? ChunkReader::kBlockBytes : length(i)) << i;
        blocks += shares && got[i].memory() != block ? 1 : 0;
        block = shares ? got[i].memory() : block;
    }
    EXPECT_GE(blocks, 2U);
    EXPECT_LE(blocks, 10U);
}

TEST(ChunkReader, AFollowingType1RunReadsBack) {
    ByteWriter out;
    out.bytes(type0_header(6, 0xFFFFFE, 1, kVideo, 1).view()).u8(1);
    out.bytes(type1_header(6, 5, 3, kVideo).view()).u8(2).u8(3).bytes(type3_header(6).view()).u8(4);
    const Outcome outcome = read_all(out.written(), 2);
    EXPECT_EQ(outcome.messages, (std::vector<Expected>{{kVideo, 0xFFFFFE, 1, 6, {1}}, {kVideo, 0x1000003, 1, 6, {2, 3, 4}}}));
}

TEST(ChunkReader, RejectsType3BeforeAnyHeader) {
    const Outcome outcome = read_all(Octets{0xC4, 1, 2, 3}, 128);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->text(), "malformed: chunk of type 3 before any header on chunk stream 4");
}

TEST(ChunkReader, RejectsType2BeforeAnyHeader) {
    const Outcome outcome = read_all(Octets{0x84, 0, 0, 1, 3}, 128);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->code(), Errc::malformed);
}

TEST(ChunkReader, RejectsANewHeaderInsideAMessage) {
    const Octets first{0x04, 0, 0, 7, 0, 0, 5, 8, 1, 0, 0, 0, 1, 2};
    for (const unsigned format : {0U, 1U, 2U}) {
        Octets input(first);
        input.push_back(static_cast<std::uint8_t>(format << 6 | 4));
        input.insert(input.end(), 11, 0);
        const Outcome outcome = read_all(input, 2);
        ASSERT_TRUE(outcome.error);
        EXPECT_EQ(outcome.error->code(), Errc::malformed);
    }
}

TEST(ChunkReader, AcceptsAMessageAtTheLimitAndRefusesOneByteMore) {
    ByteWriter fits;
    write_message(fits, 4, kVideo, 0, 1, Octets(1000), 128);
    EXPECT_EQ(read_all(fits.written(), 128, {.message_bytes = 1000}).messages.size(), 1U);
    ByteWriter over;
    write_message(over, 4, kVideo, 0, 1, Octets(1001), 128);
    const Outcome outcome = read_all(over.written(), 128, {.message_bytes = 1000});
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->text(), "limit: message of 1001 bytes, the limit is 1000");
}

TEST(ChunkReader, RefusesAChunkLongerThanTheLimitFromItsHeaderAlone) {
    const Octets header{0x04, 0, 0, 7, 0xFF, 0xFF, 0xFF, 8, 1, 0, 0, 0};
    const Outcome outcome = read_all(header, 0x7FFFFFFF);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->code(), Errc::limit);
}

TEST(ChunkReader, BoundsTheChunkStreams) {
    ByteWriter out;
    for (std::uint32_t id = 2; id < 2 + 64; ++id)
        write_message(out, id, kAudio, 0, 1, Octets{1}, 128);
    EXPECT_EQ(read_all(out.written(), 128).messages.size(), 64U);
    write_message(out, 66, kAudio, 0, 1, Octets{1}, 128);
    const Outcome outcome = read_all(out.written(), 128);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->text(), "limit: more than 64 chunk streams");
}

TEST(ChunkReader, LimitsIncompleteMessages) {
    ByteWriter out;
    out.bytes(type0_header(4, 0, 60, kAudio, 1).view()).zeros(1);
    out.bytes(type0_header(5, 0, 40, kAudio, 1).view()).zeros(1);
    const ChunkReader::Limits limits{.message_bytes = 60, .pending_bytes = 100};
    EXPECT_FALSE(read_all(out.written(), 1, limits).error);
    out.bytes(type0_header(6, 0, 1, kAudio, 1).view()).zeros(1);
    const Outcome outcome = read_all(out.written(), 1, limits);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->code(), Errc::limit);
}

TEST(ChunkReader, AbortForgetsTheMessageAndItsShareOfTheBound) {
    ChunkReader reader({.message_bytes = 100, .pending_bytes = 100});
    reader.set_chunk_size(2);
    Outcome outcome;
    feed(reader, Octets{0x04, 0, 0, 7, 0, 0, 100, 8, 1, 0, 0, 0, 1, 2}, outcome);
    reader.abort(4);
    reader.abort(9);
    feed(reader, Octets{0x04, 0, 0, 9, 0, 0, 2, 8, 1, 0, 0, 0, 3, 4}, outcome);
    EXPECT_FALSE(outcome.error);
    EXPECT_EQ(outcome.messages, (std::vector<Expected>{{kAudio, 9, 1, 4, {3, 4}}}));
}

TEST(ChunkReader, TakesMemoryAsBytesComeNotAsTheyAreDeclared) {
    constexpr std::uint32_t kLength = 9'000'000;
    constexpr std::uint32_t kChunkSize = 60'000;
    Octets payload(kLength);
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
    ByteWriter out;
    write_message(out, 6, kVideo, 5, 1, payload, kChunkSize);
    ChunkReader reader;
    reader.set_chunk_size(kChunkSize);
    Outcome outcome;
    std::size_t fed = 0;
    for (Bytes rest = out.written(); !rest.empty();) {
        const Bytes part = rest.first(std::min<std::size_t>(rest.size(), 10'000));
        feed(reader, part, outcome);
        rest = rest.subspan(part.size());
        fed += part.size();
        EXPECT_LE(reader.held_bytes(), std::max(ChunkReader::kFirstBytes, fed + std::min(fed, ChunkReader::kMoreBytesMax)));
    }
    EXPECT_EQ(reader.held_bytes(), 0U);
    EXPECT_EQ(outcome.messages, (std::vector<Expected>{{kVideo, 5, 1, 6, std::move(payload)}}));
}

TEST(ChunkReader, CountsBytesOfIncompleteMessages) {
    ChunkReader reader;
    reader.set_chunk_size(2);
    Outcome outcome;
    ByteWriter out;
    out.bytes(type0_header(4, 0, 200'000, kVideo, 1).view()).zeros(2);
    out.bytes(type0_header(5, 0, 40, kAudio, 1).view()).zeros(2);
    feed(reader, out.written(), outcome);
    EXPECT_EQ(reader.held_bytes(), ChunkReader::kFirstBytes + 40);
    reader.abort(4);
    EXPECT_EQ(reader.held_bytes(), 40U);
    reader.abort(5);
    EXPECT_EQ(reader.held_bytes(), 0U);
    EXPECT_FALSE(outcome.error);
}

TEST(ChunkReader, AChunkSizeTakesEffectBetweenMessages) {
    ChunkReader reader;
    Outcome outcome;
    ByteWriter out;
    write_message(out, 4, kAudio, 0, 1, Octets(200, 7), 128);
    feed(reader, out.written(), outcome);
    reader.set_chunk_size(4096);
    EXPECT_EQ(reader.chunk_size(), 4096U);
    ByteWriter more;
    write_message(more, 4, kAudio, 0, 1, Octets(200, 7), 4096);
    feed(reader, more.written(), outcome);
    EXPECT_FALSE(outcome.error);
    EXPECT_EQ(outcome.messages.size(), 2U);
}

}  // namespace
}  // namespace live::wire::rtmp
