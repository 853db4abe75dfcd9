#include "media/ingest.hpp"

#include <gtest/gtest.h>

#include "base/byte_reader.hpp"
#include "base/byte_writer.hpp"
#include "media/cursor.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {
namespace {

namespace amf = wire::amf;

Slice body(std::initializer_list<std::uint8_t> bytes) { return Slice::copy_of(std::vector<std::uint8_t>(bytes)); }

struct IngestTest : ::testing::Test {
    void start() {
        reader = std::make_unique<Cursor>(source);  // so that the ring keeps what comes
        ingest = std::make_unique<Ingest>(*publication, options, PublishOptions{}, log);
    }
    const Packet& packet(Sequence sequence) const { return source->ring().at(sequence); }

    SlabPool pool;
    PlayOptions options;
    Log log;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000, pool);
    std::unique_ptr<Publication> publication = *source->publish(Source::Takeover::refuse);
    std::unique_ptr<Cursor> reader;
    std::unique_ptr<Ingest> ingest;
};

const Slice kAvcConfig = body({0x17, 0, 0, 0, 0, 1, 0x64, 0, 0x1F});
const Slice kAvcKey = body({0x17, 1, 0, 0, 0, 1, 2, 3});
const Slice kAvcInter = body({0x27, 1, 0, 0, 0, 4, 5, 6});
const Slice kAacConfig = body({0xAF, 0, 0x12, 0x10});
const Slice kAacFrame = body({0xAF, 1, 9, 9});

TEST_F(IngestTest, KnowsConfigsKeyFramesAndTheRest) {
    start();
    ingest->push_video(1000, kAvcConfig);
    ingest->push_audio(1000, kAacConfig);
    ingest->push_video(1000, kAvcKey);
    ingest->push_audio(1010, kAacFrame);
    ingest->push_video(1040, kAvcInter);
    ASSERT_EQ(source->ring().next(), 5U);
    EXPECT_TRUE(source->config(Kind::video).bytes().size() == 9 && source->config(Kind::audio).bytes().size() == 4);
    EXPECT_EQ(source->gop_start(), 2U);
    EXPECT_EQ(packet(3).dts, 10ms);
    EXPECT_FALSE(packet(4).key);
    EXPECT_EQ(source->counters().key_frames, 1U);
}

TEST_F(IngestTest, BrokenBodiesAreDroppedAndCountedAndTheStreamGoesOn) {
    start();
    ingest->push_video(0, body({0x17}));
    ingest->push_data(0, body({2, 0, 200, 'x'}));
    ingest->push_video(0, kAvcKey);
    EXPECT_EQ(ingest->dropped(), 2U);
    EXPECT_EQ(source->ring().next(), 1U);
}

// Bodies out of blocks, as a chunk reader makes them.
struct Blocks {
    Slice next(std::size_t size) {
        if (block.size() - at < size) {
            block = Slice::copy_of(std::vector<std::uint8_t>(16'000, 0xAF));
            at = 0;
        }
        at += size;
        return block.sub(at - size, size);
    }
    Slice block;
    std::size_t at = 0;
};

TEST_F(IngestTest, BodiesThatShareTheirMemoryAreNotCopied) {
    start();
    Blocks blocks;
    std::vector<std::uint8_t> picture(9'000, 0x27);
    picture[1] = 1;
    for (std::uint32_t i = 0; i < 3000; ++i) {
        const Slice sound = blocks.next(400);
        ingest->push_audio(20 * i, sound);
        ASSERT_EQ(source->ring().newest().payload.data(), sound.data()) << i;
        if (i % 10 < 5)
            ingest->push_video(20 * i, Slice::copy_of(picture));  // too long for a block
    }
    EXPECT_EQ(ingest->dropped(), 0U);
}

TEST_F(IngestTest, WhoMostlyGetsDroppedDoesNotMakeTheRingKeepTheRest) {
    start();
    Blocks blocks;
    for (std::uint32_t i = 0; i < 3000; ++i) {
        ingest->push_audio(i, blocks.next(10));
        blocks.next(7'000);  // left out
    }
    std::size_t held = 0;
    const void* before = nullptr;
    for (Sequence at = source->ring().first(); at < source->ring().next(); ++at) {
        const Slice& payload = packet(at).payload;
        held += payload.memory() == before ? 0 : payload.memory_bytes();
        before = payload.memory();
    }
    EXPECT_EQ(source->ring().size(), 3000U);
    EXPECT_LE(held, 5 * source->ring().bytes() + (100U << 10));
}

TEST_F(IngestTest, MetadataLosesItsWrapperAndItsDuration) {
    start();
    ByteWriter writer;
    amf::write_amf0(writer, amf::Value("@setDataFrame"));
    amf::write_amf0(writer, amf::Value("onMetaData"));
    amf::write_amf0(writer, amf::Value::ecma_array({{"duration", 12.5}, {"width", 768.0}}));
    ingest->push_data(0, Slice::copy_of(writer.written()));
    ByteReader bytes(source->metadata().bytes());
    EXPECT_EQ(amf::read_amf0(bytes)->string(), "onMetaData");
    const auto values = *amf::read_amf0(bytes);
    EXPECT_EQ(values.find("duration"), nullptr);
    EXPECT_EQ(values.find("width")->number(), 768.0);
    EXPECT_NE(values.find("server"), nullptr);
}

TEST_F(IngestTest, OtherDataIsRelayedAsItIs) {
    start();
    ByteWriter writer;
    amf::write_amf0(writer, amf::Value("onCuePoint"));
    amf::write_amf0(writer, amf::Value(7.0));
    const Slice cue = Slice::copy_of(writer.written());
    ingest->push_data(0, cue);
    EXPECT_TRUE(source->metadata().empty());
    EXPECT_EQ(packet(0).payload.data(), cue.data());
}

TEST_F(IngestTest, RepeatedSequenceHeadersAreLeftOutWhenAsked) {
    options.reduce_sequence_header = true;
    start();
    ingest->push_video(0, kAvcConfig);
    ingest->push_video(0, Slice::copy_of(kAvcConfig.bytes()));
    EXPECT_EQ(source->ring().next(), 1U);
}

TEST_F(IngestTest, MixCorrectPutsClumpsInOrderOfTime) {
    options.mix_correct = true;
    start();
    for (const std::uint32_t at : {0U, 40U, 80U})
        ingest->push_video(at, kAvcInter);
    for (const std::uint32_t at : {0U, 20U, 60U, 100U})
        ingest->push_audio(at, kAacFrame);
    ingest.reset();  // the publisher's end drains it
    ASSERT_EQ(source->ring().next(), 7U);
    for (Sequence sequence = 1; sequence < 7; ++sequence)
        EXPECT_LE(packet(sequence - 1).dts, packet(sequence).dts);
}

TEST_F(IngestTest, NothingIsAppendedAfterATakeover) {
    start();
    auto newcomer = *source->publish(Source::Takeover::replace);
    ingest->push_video(0, kAvcKey);
    EXPECT_EQ(source->ring().next(), 0U);
}

}  // namespace
}  // namespace live::media
