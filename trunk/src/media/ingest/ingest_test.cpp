#include "media/ingest/ingest.hpp"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/wire_cursor.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {
namespace {

namespace amf = wire::amf;

Slice body(std::initializer_list<std::uint8_t> bytes) { return Slice::copy_of(std::vector<std::uint8_t>(bytes)); }

struct IngestTest : ::testing::Test {
    void start() {
        reader = std::make_unique<Cursor>(source);  // keeps the packets in the ring
        ingest = std::make_unique<Ingest>(*publication, options, PublishOptions{}, log);
    }
    const Packet& packet(Sequence sequence) const { return source->ring().at(sequence); }

    SlabPool pool;
    PlayOptions options;
    Log log;
    Ref<Source> source = make_ref<Source>("/live/test", options, 60'000U, pool);
    std::unique_ptr<Publication> publication = *Publication::start(source, Takeover::refuse);
    std::unique_ptr<Cursor> reader;
    std::unique_ptr<Ingest> ingest;
};

const Slice kAvcConfig = body({0x17, 0, 0, 0, 0, 1, 0x64, 0, 0x1F});
const Slice kAvcKey = body({0x17, 1, 0, 0, 0, 1, 2, 3});
const Slice kAvcInter = body({0x27, 1, 0, 0, 0, 4, 5, 6});
const Slice kAacConfig = body({0xAF, 0, 0x12, 0x10});
const Slice kAacFrame = body({0xAF, 1, 9, 9});

TEST_F(IngestTest, ReadsConfigurationsKeyFramesAndOthers) {
    start();
    ingest->push_body(MediaKind::video, 1000, kAvcConfig);
    ingest->push_body(MediaKind::audio, 1000, kAacConfig);
    ingest->push_body(MediaKind::video, 1000, kAvcKey);
    ingest->push_body(MediaKind::audio, 1010, kAacFrame);
    ingest->push_body(MediaKind::video, 1040, kAvcInter);
    ASSERT_EQ(source->ring().next(), 5U);
    EXPECT_TRUE(source->tracks().config(MediaKind::video).payload.size() == 9 &&
                source->tracks().config(MediaKind::audio).payload.size() == 4);
    EXPECT_EQ(source->retention().gop_start(), 2U);
    EXPECT_EQ(packet(3).dts, 10ms);
    EXPECT_FALSE(packet(4).key);
    EXPECT_EQ(source->counters().key_frames, 1U);
}

// As librtmp's widely copied sample publishes: a sequence header with timestamp 0 before each key frame.
TEST_F(IngestTest, HeaderStampsDoNotMoveTheClock) {
    start();
    const std::uint32_t origin = 700'000;
    for (std::uint32_t at = 0; at < 12'000; at += 40) {
        if (at % 2'000 == 0) {
            ingest->push_body(MediaKind::video, 0, kAvcConfig);
            ingest->push_body(MediaKind::audio, 0, kAacConfig);
        }
        ingest->push_body(MediaKind::video, origin + at, at % 2'000 == 0 ? kAvcKey : kAvcInter);
        EXPECT_EQ(source->ring().newest().dts, std::chrono::milliseconds(at));
        ingest->push_body(MediaKind::audio, origin + at + 5, kAacFrame);
        EXPECT_EQ(source->ring().newest().dts, std::chrono::milliseconds(at + 5));
    }
    EXPECT_EQ(source->timeline().jumps(), 0U);
}

TEST_F(IngestTest, KeyFramesStampedZeroDoNotMoveTheClock) {
    start();
    for (std::uint32_t at = 0; at < 12'000; at += 40) {
        const bool key = at % 2'000 == 0;
        ingest->push_body(MediaKind::video, key ? 0 : at, key ? kAvcKey : kAvcInter);
        const MediaTime early = std::chrono::milliseconds(at) - source->ring().newest().dts;
        EXPECT_TRUE(early == 0ms || (key && early <= 30ms)) << at;
        ingest->push_body(MediaKind::audio, at + 5, kAacFrame);
        EXPECT_EQ(source->ring().newest().dts, std::chrono::milliseconds(at + 5));
    }
    ingest->push_body(MediaKind::video, 4, kAvcInter);
    ingest->push_body(MediaKind::video, 12'000, kAvcInter);
    EXPECT_FALSE(source->tracks().has_b_frames()) << "a stray stamp is no order of frames";
}

TEST_F(IngestTest, FramesWithinThePublishersTimeoutKeepTheirDistance) {
    reader = std::make_unique<Cursor>(source);
    PublishOptions patient;
    patient.normal_timeout = 60s;
    ingest = std::make_unique<Ingest>(*publication, options, patient, log);
    for (std::uint32_t at = 0; at <= 60'000; at += 20'000) {
        ingest->push_body(MediaKind::video, at, kAvcKey);
        EXPECT_EQ(source->ring().newest().dts, std::chrono::milliseconds(at));
    }
}

TEST_F(IngestTest, DropsAndCountsBrokenBodies) {
    start();
    ingest->push_body(MediaKind::video, 0, body({0x17}));
    ingest->push_data(0, body({2, 0, 200, 'x'}));
    ingest->push_body(MediaKind::video, 0, kAvcKey);
    EXPECT_EQ(ingest->dropped(), 2U);
    EXPECT_EQ(source->ring().next(), 1U);
}

// Bodies cut out of blocks, as the chunk reader makes them.
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
        const Slice audio = blocks.next(400);
        ingest->push_body(MediaKind::audio, 20 * i, audio);
        ASSERT_EQ(source->ring().newest().payload.data(), audio.data()) << i;
        if (i % 10 < 5)
            ingest->push_body(MediaKind::video, 20 * i, Slice::copy_of(picture));  // too long for a block
    }
    EXPECT_EQ(ingest->dropped(), 0U);
}

TEST_F(IngestTest, EachKindMayHaveBlocksOfItsOwn) {
    start();
    Blocks audio;
    Blocks video;
    for (std::uint32_t i = 0; i < 3000; ++i) {
        ingest->push_frame(MediaKind::audio, 20 * i, {.codec = Codec::opus, .data = audio.next(400), .shares_memory = true});
        const Slice picture = video.next(3'000);
        ingest->push_frame(MediaKind::video, 20 * i, {.codec = Codec::vp9, .data = picture, .shares_memory = true});
        ASSERT_EQ(source->ring().newest().payload.data(), picture.data()) << i;
    }
}

TEST_F(IngestTest, MostlyDroppedBlocksAreNotKeptAlive) {
    start();
    Blocks blocks;
    for (std::uint32_t i = 0; i < 3000; ++i) {
        ingest->push_body(MediaKind::audio, i, blocks.next(10));
        blocks.next(7'000);  // dropped
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
    ByteReader bytes(source->tracks().metadata().bytes());
    EXPECT_EQ(amf::read_amf0(bytes)->string(), "onMetaData");
    const auto values = *amf::read_amf0(bytes);
    EXPECT_EQ(values.find("duration"), nullptr);
    EXPECT_EQ(values.find("width")->number(), 768.0);
    EXPECT_NE(values.find("server"), nullptr);
}

TEST_F(IngestTest, TracksHaveTheNamesInMetadata) {
    start();
    ingest->push_body(MediaKind::audio, 0, Slice::copy_of(hex("af 00 1210")));
    ByteWriter writer;
    amf::write_amf0(writer, amf::Value("onMetaData"));
    const auto language = [](const char* text) { return amf::Value::object({{"language", text}}); };
    amf::write_amf0(writer, amf::Value::ecma_array(
                                {{"audioTrackIdInfoMap", amf::Value::object({{"0", language("en")}, {"1", language("de")}})}}));
    ingest->push_data(0, Slice::copy_of(writer.written()));
    ingest->push_body(MediaKind::audio, 0, Slice::copy_of(hex("95 00 6d703461 01 1210")));
    ASSERT_NE(source->tracks().find(MediaKind::audio, TrackId{1}), nullptr);
    EXPECT_EQ(source->tracks().find(MediaKind::audio, TrackId{0})->language, "en");
    EXPECT_EQ(source->tracks().find(MediaKind::audio, TrackId{1})->language, "de") << "it came later";
}

Slice data_of(std::initializer_list<amf::Value> values) {
    ByteWriter out;
    for (const amf::Value& value : values)
        amf::write_amf0(out, value);
    return Slice::copy_of(out.written());
}

TEST_F(IngestTest, CommandsOfDataMessagesAreNotRelayed) {
    start();
    const amf::Value cue = amf::Value::object({{"name", amf::Value("ad")}});
    ingest->push_data(0, data_of({amf::Value("@setDataFrame"), amf::Value("onCuePoint"), cue}));
    EXPECT_TRUE(std::ranges::equal(packet(0).payload.bytes(), data_of({amf::Value("onCuePoint"), cue}).bytes()));
    EXPECT_EQ(packet(0).content, Content::other);
    ingest->push_data(0, data_of({amf::Value("@setDataFrame"), amf::Value("onMetaData"), cue}));
    EXPECT_FALSE(source->tracks().metadata().empty());
    const auto version = source->tracks().config_version();
    ingest->push_data(0, data_of({amf::Value("@clearDataFrame"), amf::Value("onCuePoint")}));
    EXPECT_FALSE(source->tracks().metadata().empty());
    ingest->push_data(0, data_of({amf::Value("@clearDataFrame"), amf::Value("onMetaData")}));
    EXPECT_TRUE(source->tracks().metadata().empty());
    EXPECT_GT(source->tracks().config_version(), version);
    EXPECT_EQ(source->ring().next(), 2U) << "readers get neither";
    ingest->push_data(0, data_of({amf::Value("@setDataFrame"), amf::Value(kSyncMessageName), cue}));
    ingest->push_data(0, data_of({amf::Value("@setDataFrame")}));
    EXPECT_EQ(source->ring().next(), 2U);
    EXPECT_EQ(ingest->dropped(), 1U) << "the sync message; a command without data is not counted";
}

TEST_F(IngestTest, OtherDataIsRelayedAsItIs) {
    start();
    ByteWriter writer;
    amf::write_amf0(writer, amf::Value("onCuePoint"));
    amf::write_amf0(writer, amf::Value(7.0));
    const Slice cue = Slice::copy_of(writer.written());
    ingest->push_data(0, cue);
    EXPECT_TRUE(source->tracks().metadata().empty());
    EXPECT_EQ(packet(0).payload.data(), cue.data());
}

TEST_F(IngestTest, DropsSyncMessagesOfAPublisher) {
    start();
    const Sequence before = source->ring().next();
    ingest->push_data(0, write_sync_message({"hls", "1", {}}));
    EXPECT_EQ(source->ring().next(), before);
    EXPECT_EQ(ingest->dropped(), 1U);
}

TEST_F(IngestTest, RepeatedSequenceHeadersAreLeftOutIfConfigured) {
    options.reduce_sequence_header = true;
    start();
    ingest->push_body(MediaKind::video, 0, kAvcConfig);
    ingest->push_body(MediaKind::video, 0, Slice::copy_of(kAvcConfig.bytes()));
    EXPECT_EQ(source->ring().next(), 1U);
}

TEST_F(IngestTest, ABadSequenceHeaderDoesNotReplaceAGoodOne) {
    bridge_test::Lines lines;
    const Log to_lines(lines, "test");
    start();
    Ingest logged(*publication, options, PublishOptions{}, to_lines);
    const Slice good = avc_config_body();
    logged.push_body(MediaKind::video, 0, good);
    logged.push_body(MediaKind::audio, 0, aac_config_body());
    logged.push_body(MediaKind::video, 0, kAvcKey);
    for (const char* bad : {"17 00 000000", "17 00 000000 01", "17 00 000000 a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"})
        logged.push_body(MediaKind::video, 40, Slice::copy_of(hex(bad)));
    logged.push_body(MediaKind::audio, 40, Slice::copy_of(hex("af 00")));
    EXPECT_EQ(source->ring().next(), 3U) << "players do not get them either";
    EXPECT_TRUE(std::ranges::equal(source->tracks().config(MediaKind::video).payload.bytes(), good.bytes()));
    EXPECT_TRUE(std::ranges::equal(source->tracks().config(MediaKind::audio).payload.bytes(), aac_config_body().bytes()));
    EXPECT_EQ(logged.dropped(), 4U);
    EXPECT_EQ(lines.count("dropped a bad video sequence header"), 1U);
    EXPECT_EQ(lines.count("dropped a bad audio sequence header"), 1U);
    const Slice other = tag_body(hex("17 00 000000"), wire::codec::avc_vectors().back().record);
    logged.push_body(MediaKind::video, 80, other);
    EXPECT_TRUE(std::ranges::equal(source->tracks().config(MediaKind::video).payload.bytes(), other.bytes()))
        << "a good one does";
}

TEST_F(IngestTest, ABadSequenceHeaderThatIsTheFirstIsRelayed) {
    start();
    const Slice bad = Slice::copy_of(hex("17 00 000000 01"));
    ingest->push_body(MediaKind::video, 0, bad);
    EXPECT_EQ(packet(0).payload.data(), bad.data());
    ingest->push_body(MediaKind::video, 0, avc_config_body());
    EXPECT_TRUE(std::ranges::equal(source->tracks().config(MediaKind::video).payload.bytes(), avc_config_body().bytes()));
    ingest->push_body(MediaKind::video, 0, tag_body(hex("1c 00 000000"), hex("01")));
    EXPECT_EQ(source->tracks().config(MediaKind::video).codec, Codec::hevc) << "of another codec nothing good is known";
}

TEST_F(IngestTest, MixCorrectPutsClumpsInOrderOfTime) {
    options.mix_correct = true;
    start();
    for (const std::uint32_t at : {0U, 40U, 80U})
        ingest->push_body(MediaKind::video, at, kAvcInter);
    for (const std::uint32_t at : {0U, 20U, 60U, 100U})
        ingest->push_body(MediaKind::audio, at, kAacFrame);
    ingest.reset();  // the end of the publisher drains it
    ASSERT_EQ(source->ring().next(), 7U);
    for (Sequence sequence = 1; sequence < 7; ++sequence)
        EXPECT_LE(packet(sequence - 1).dts, packet(sequence).dts);
}

TEST_F(IngestTest, NothingIsAppendedAfterATakeover) {
    start();
    auto newcomer = *Publication::start(source, Takeover::replace);
    ingest->push_body(MediaKind::video, 0, kAvcKey);
    EXPECT_EQ(source->ring().next(), 0U);
}

TEST_F(IngestTest, ParsesOnceForAll) {
    start();
    ingest->push_body(MediaKind::video, 0, Slice::copy_of(hex("91 68766331 000042 00000001 26")));
    ingest->push_body(MediaKind::audio, 0, Slice::copy_of(hex("2f fffb")));
    EXPECT_EQ(packet(0).head, 8U);
    EXPECT_EQ(packet(0).codec, Codec::hevc);
    EXPECT_EQ(packet(0).content, Content::frame);
    EXPECT_TRUE(packet(0).key);
    EXPECT_EQ(packet(0).cts, 66ms);
    EXPECT_TRUE(std::ranges::equal(packet(0).frame(), hex("00000001 26")));
    EXPECT_EQ(source->tracks().default_of(MediaKind::audio)->codec, Codec::mp3);
    EXPECT_EQ(source->tracks().default_of(MediaKind::audio)->audio, (AudioFormat{44'100, 2}));
}

TEST_F(IngestTest, KeyFramesOfReservedFrameTypesAreFoundByTheirContents) {
    bridge_test::Lines lines;
    const Log to_lines(lines, "test");
    start();
    Ingest logged(*publication, options, PublishOptions{}, to_lines);
    logged.push_body(MediaKind::video, 0, tag_body(hex("80 68766331"), wire::codec::hevc_vectors().front().record));
    logged.push_body(MediaKind::video, 0, Slice::copy_of(hex("81 68766331 000000 00000003 2601af")));
    logged.push_body(MediaKind::video, 40, Slice::copy_of(hex("81 68766331 000000 00000003 0201d0")));
    logged.push_body(MediaKind::video, 80, Slice::copy_of(hex("07 01 000000 00000002 65b8")));
    logged.push_body(MediaKind::video, 120, Slice::copy_of(hex("61 00 00")));
    EXPECT_EQ(packet(0).payload.bytes()[0], 0x90);
    EXPECT_FALSE(packet(0).key);
    EXPECT_TRUE(packet(1).key);
    EXPECT_TRUE(std::ranges::equal(packet(1).payload.bytes(), hex("91 68766331 000000 00000003 2601af")))
        << "players and other nodes read it";
    EXPECT_FALSE(packet(2).key);
    EXPECT_TRUE(std::ranges::equal(packet(2).payload.bytes(), hex("a1 68766331 000000 00000003 0201d0")));
    EXPECT_TRUE(packet(3).key) << "AVC, too";
    EXPECT_EQ(packet(3).payload.bytes()[0], 0x17);
    EXPECT_FALSE(packet(4).key) << "a codec that is unknown";
    EXPECT_EQ(lines.count("sends reserved frame types"), 1U);
    EXPECT_EQ(source->retention().gop_start(), 3U);
}

TEST_F(IngestTest, KeepsFramesWithoutHeader) {
    start();
    const Slice data = Slice::copy_of(hex("00000001 65"));
    ingest->push_frame(MediaKind::video, 40, {.codec = Codec::avc, .key = true, .cts = 80ms, .data = data});
    EXPECT_EQ(packet(0).payload.memory(), data.memory());
    EXPECT_EQ(packet(0).head, 0U);
    EXPECT_EQ(body_of(packet(0)), hex("17 01 000050 00000001 65"));
    EXPECT_EQ(source->retention().gop_start(), 0U);
}

TEST_F(IngestTest, TheNanosecondsOfATagAreAddedOnce) {
    start();
    ingest->push_body(MediaKind::video, 0, Slice::copy_of(hex("97 02 07a120 01 68766331 000001 00000003 260111")));  // 500,000 ns
    EXPECT_EQ(packet(0).dts, 500us);
    EXPECT_EQ(packet(0).cts, 1ms);
}

// Everything a reader of this format has received so far.
std::vector<std::uint8_t> sent_to(WireCursor& cursor) {
    std::vector<std::uint8_t> bytes;
    std::array<::iovec, 8> spans;
    for (auto batch = cursor.take(spans); batch.bytes > 0; batch = cursor.take(spans)) {
        for (const ::iovec& span : std::span(spans).first(batch.spans)) {
            const auto* data = static_cast<const std::uint8_t*>(span.iov_base);
            bytes.insert(bytes.end(), data, data + span.iov_len);
        }
        cursor.advance(batch.bytes);
    }
    return bytes;
}

bool holds(const std::vector<std::uint8_t>& bytes, const std::vector<std::uint8_t>& part) {
    return std::search(bytes.begin(), bytes.end(), part.begin(), part.end()) != bytes.end();
}

bool holds(const std::vector<std::uint8_t>& bytes, std::string_view part) { return holds(bytes, hex(part)); }

// Two audio and two video tracks, sent by an encoder that puts all tracks of a kind into one message.
void push_two_of_each(Ingest& ingest) {
    ingest.push_body(MediaKind::video, 0, Slice::copy_of(hex("96 10 61766331 00 000003 0164aa 01 000003 0164bb")));
    ingest.push_body(MediaKind::audio, 0, Slice::copy_of(hex("95 10 6d703461 00 000002 1210 01 000002 1190")));
    for (std::uint32_t i = 0; i < 3; ++i) {
        ingest.push_body(MediaKind::video, 40 * i,
                         Slice::copy_of(hex(i == 0 ? "96 11 61766331 00 000007 000000 c0c0c0c0 01 000007 000000 d0d0d0d0"
                                                   : "a6 11 61766331 00 000007 000050 c1c1c1c1 01 000007 000000 d1d1d1d1")));
        ingest.push_body(MediaKind::audio, 40 * i + 5,
                         Slice::copy_of(hex("95 11 6d703461 00 000004 e0e0e0e0 01 000004 f0f0f0f0")));
    }
}

TEST_F(IngestTest, TracksOfOneMessageAreAPacketEach) {
    start();
    constexpr WireFormat kRtmp{Container::rtmp, Framing::none, MediaKindSet::all(), TrackSelection::all};
    WireCursor rtmp(source, kRtmp);
    WireCursor flv(source, {Container::flv, Framing::none, MediaKindSet::all(), TrackSelection::all});
    push_two_of_each(*ingest);
    ASSERT_EQ(source->ring().next(), 16U);
    EXPECT_TRUE(std::ranges::equal(packet(4).payload.bytes(), hex("91 61766331 000000 c0c0c0c0")));
    EXPECT_FALSE(packet(4).extra);
    EXPECT_TRUE(std::ranges::equal(packet(5).payload.bytes(), hex("96 01 61766331 01 000000 d0d0d0d0")));
    EXPECT_TRUE(packet(5).extra);
    EXPECT_TRUE(std::ranges::equal(packet(5).frame(), hex("d0d0d0d0")));
    EXPECT_EQ(packet(5).track, TrackId(1));
    ASSERT_EQ(source->tracks().all().size(), 4U);
    EXPECT_TRUE(std::ranges::equal(source->tracks().all()[3].config.bytes(), hex("1190")));
    WireCursor late(source, kRtmp);
    for (const auto& bytes : {sent_to(rtmp), sent_to(flv), sent_to(late)})
        for (const char* part : {"90 61766331 0164aa", "96 00 61766331 01 0164bb", "90 6d703461 1210", "95 00 6d703461 01 1190",
                                 "c1c1c1c1", "d1d1d1d1", "91 6d703461 e0e0e0e0", "95 01 6d703461 01 f0f0f0f0"})
            EXPECT_TRUE(holds(bytes, part)) << part;
}

TEST_F(IngestTest, MessageWithOneTrackPassesUnchanged) {
    start();
    const Slice one = Slice::copy_of(hex("96 01 61766331 00 000000 d0d0d0d0"));
    ingest->push_body(MediaKind::video, 0, one);
    EXPECT_EQ(packet(0).payload.data(), one.data());
}

TEST_F(IngestTest, ReadersThatKnowNoTracksGetTheDefaultOnes) {
    start();
    WireCursor aac(source, {Container::aac, Framing::none, MediaKindSet::all()});
    WireCursor ts(source, {Container::ts, Framing::none, MediaKindSet::all()});
    WireCursor flv(source, {Container::flv, Framing::none, MediaKindSet::all()});
    Cursor all(source, WakeMode::at_once, Cursor::Start::now, Cursor::Tracks::all);
    push_two_of_each(*ingest);
    const auto by_aac = sent_to(aac);
    EXPECT_TRUE(holds(by_aac, "e0e0e0e0"));
    EXPECT_FALSE(holds(by_aac, "f0f0f0f0"));
    EXPECT_FALSE(holds(sent_to(ts), "f0f0f0f0"));
    const auto by_flv = sent_to(flv);
    EXPECT_TRUE(holds(by_flv, "91 6d703461 e0e0e0e0"));
    for (const char* part : {"f0f0f0f0", "d1d1d1d1", "0164bb", "1190"})
        EXPECT_FALSE(holds(by_flv, part)) << part;
    std::size_t count = 0;
    for (auto taken = reader->take(); taken; taken = reader->take(), ++count)
        EXPECT_EQ(taken->track, TrackId(0));
    EXPECT_EQ(count, 8U);
    for (count = 0; all.take(); ++count) {
    }
    EXPECT_EQ(count, 16U);
    EXPECT_EQ(source->counters().packets[index_of(MediaKind::video)], 4U) << "as many frames as a player sees";
    EXPECT_EQ(source->counters().key_frames, 1U);
    EXPECT_EQ(source->retention().gop_start(), 4U);
    EXPECT_FALSE(source->tracks().has_b_frames()) << "frames of two tracks have two orders";
    Cursor late(source, WakeMode::at_once, Cursor::Start::join_point, Cursor::Tracks::all);
    std::vector<std::uint8_t> configs;
    for (int i = 0; i < 4; ++i) {
        const auto config = late.take();
        ASSERT_TRUE(config && config->is_config());
        configs.insert(configs.end(), config->frame().begin(), config->frame().end());
    }
    EXPECT_EQ(configs, hex("1210 0164aa 0164bb 1190"));
}

TEST_F(IngestTest, TracksAreBounded) {
    bridge_test::Lines lines;
    const Log to_lines(lines, "test");
    Ingest many(*publication, options, PublishOptions{}, to_lines);
    for (const char* type : {"90", "91"}) {
        for (std::uint8_t id = 0; id < 40; ++id) {
            auto body = hex(std::string("95 0") + type[1] + " 6d703461 00 1210");
            body[6] = id;
            many.push_body(MediaKind::audio, id, Slice::copy_of(body));
        }
    }
    EXPECT_EQ(source->tracks().all().size(), Tracks::kMax);
    EXPECT_EQ(source->tracks().extra_configs().size(), Tracks::kMax - 1);
    EXPECT_EQ(source->ring().next(), 2 * Tracks::kMax);
    EXPECT_EQ(lines.count("sends more than 16 audio tracks"), 1U);
    many.push_body(MediaKind::video, 0, kAvcConfig);
    EXPECT_EQ(source->tracks().all().size(), Tracks::kMax + 1);
}

TEST_F(IngestTest, ABrokenMessageOfSeveralTracksIsDropped) {
    start();
    ingest->push_body(MediaKind::audio, 0, Slice::copy_of(hex("95 11 6d703461 00 000001 aa 01 000002 bb")));
    EXPECT_EQ(ingest->dropped(), 1U);
    EXPECT_EQ(source->ring().next(), 0U);
}

TEST_F(IngestTest, ACodecThatIsNotKnownIsRelayedAsItIsAndLeftOutElsewhere) {
    bridge_test::Lines lines;
    const Log to_lines(lines, "test");
    WireCursor rtmp(source, {Container::rtmp, Framing::none, MediaKindSet::all()});
    WireCursor flv(source, {Container::flv, Framing::none, MediaKindSet::all()});
    WireCursor ts(source, {Container::ts, Framing::none, MediaKindSet::all()});
    Ingest opaque(*publication, options, PublishOptions{}, to_lines);
    const std::vector<std::vector<std::uint8_t>> bodies = {hex("90 76766331 01020304"), hex("91 76766331 00000107aabb"),
                                                           hex("a1 76766331 00000102ccdd")};
    for (std::uint32_t i = 0; i < bodies.size(); ++i)
        opaque.push_body(MediaKind::video, 40 * i, Slice::copy_of(bodies[i]));
    opaque.push_body(MediaKind::audio, 0, Slice::copy_of(hex("91 78787878 ff")));
    const auto by_rtmp = sent_to(rtmp);
    const auto by_flv = sent_to(flv);
    for (const auto& body : bodies) {
        EXPECT_TRUE(holds(by_rtmp, body));
        EXPECT_TRUE(holds(by_flv, body));
    }
    EXPECT_TRUE(sent_to(ts).empty());
    EXPECT_EQ(source->counters().key_frames, 1U) << "its head says so";
    EXPECT_EQ(source->tracks().default_of(MediaKind::video)->codec, Codec::unknown);
    EXPECT_TRUE(std::ranges::equal(source->tracks().default_of(MediaKind::video)->config.bytes(), hex("01020304")));
    EXPECT_EQ(lines.count("the video codec vvc1 is unknown"), 1U);
    EXPECT_EQ(lines.count("the audio codec xxxx is unknown"), 1U);
    WireCursor late(source, {Container::rtmp, Framing::none, MediaKindSet::all()});
    const auto to_late = sent_to(late);
    EXPECT_TRUE(holds(to_late, bodies[0])) << "a late joiner gets the configuration";
    EXPECT_TRUE(holds(to_late, bodies[1]));
}

TEST_F(IngestTest, RecognizesARepeatedConfigWithAndWithoutHeader) {
    const Slice record = Slice::copy_of(wire::codec::avc_vectors().front().record);
    const auto push_record = [&](const Slice& bytes) {
        ingest->push_frame(MediaKind::video, 0, {.codec = Codec::avc, .content = Content::config, .data = bytes});
    };
    options.reduce_sequence_header = true;
    start();
    ingest->push_body(MediaKind::video, 0, avc_config_body());
    ASSERT_EQ(source->ring().next(), 1U);
    push_record(record);
    EXPECT_EQ(source->ring().next(), 1U);
    push_record(Slice::copy_of(wire::codec::avc_vectors().back().record));
    EXPECT_EQ(source->ring().next(), 2U);
    push_record(Slice::copy_of(wire::codec::avc_vectors().back().record));
    EXPECT_EQ(source->ring().next(), 2U);
    ingest->push_body(MediaKind::video, 0, avc_config_body());
    EXPECT_EQ(source->ring().next(), 3U);
}

}  // namespace
}  // namespace live::media
