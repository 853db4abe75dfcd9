#include "wire/ts/read/ts_reader.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/audio/adts.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/crc32.hpp"
#include "wire/ts/read/pes_reader.hpp"
#include "wire/ts/read/ts_builder_fixture.hpp"
#include "wire/ts/write/muxer.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace live::wire::ts {
namespace {

using codec::Codec;
using codec::Content;
using codec::Frame;
using Buffer = std::vector<std::uint8_t>;
using Units = std::vector<TsReader::Unit>;

void drain(TsReader& reader, Units& out) {
    while (auto unit = reader.next())
        out.push_back(*std::move(unit));
}
Units read_all(TsReader& reader, Bytes bytes) {
    Units out;
    reader.feed(bytes);
    drain(reader, out);
    reader.finish();
    drain(reader, out);
    return out;
}
Units read_all(Bytes bytes) {
    TsReader reader;
    return read_all(reader, bytes);
}
std::vector<Frame> of_kind(const Units& units, MediaKind kind, Content content = Content::frame) {
    std::vector<Frame> frames;
    for (const TsReader::Unit& unit : units)
        if (unit.kind == kind && (unit.frame.content == content || kind == MediaKind::data))
            frames.push_back(unit.frame);
    return frames;
}
std::vector<Frame> video_of(const Units& units) { return of_kind(units, MediaKind::video); }
std::vector<Frame> audio_of(const Units& units) { return of_kind(units, MediaKind::audio); }

Buffer adts(std::size_t size) {
    const auto header = codec::adts_header({.sample_rate = 48'000, .channels = 2}, size).value();
    Buffer out(header.begin(), header.end());
    out.resize(out.size() + size, 0x21);
    return out;
}
Buffer adts_pes(std::uint64_t pts, std::size_t size = 50) { return built_pes(0xC0, {.pts = pts}, adts(size)); }

const BuiltStream kAac{0x0F, 0x101, {}};

// A stream that our own muxer writes, and the frames that went in.
struct Sample {
    Buffer bytes;
    Frame video_config;
    Frame audio_config;
    std::vector<Frame> video;
    std::vector<Frame> audio;
};

Frame numbered_picture(Codec codec, unsigned number, std::minstd_rand& random) {
    const bool is_avc = codec == Codec::avc;
    const bool key = number % 5 == 0;
    const Buffer head = is_avc ? hex(key ? "65" : "41") : hex(key ? "2601" : "0201");
    ByteWriter data;
    for (unsigned slice = 0; slice <= random() % 3; ++slice) {
        Buffer body(random() % 3'000 + 1);
        for (auto& byte : body)
            byte = static_cast<std::uint8_t>(random() % 255 + 1);  // no start code inside
        data.u32be(static_cast<std::uint32_t>(head.size() + body.size())).bytes(head).bytes(body);
    }
    Frame frame = key ? codec::frames::key(codec, data.written()) : codec::frames::inter(codec, data.written());
    frame.dts = 1s + number * 40ms;
    frame.cts = std::array{40ms, 120ms, 0ms}[number % 3];
    return frame;
}

Frame numbered_audio(Codec codec, unsigned number, std::minstd_rand& random) {
    Buffer data(random() % 700 + 1, static_cast<std::uint8_t>(random()));
    if (codec == Codec::opus)
        data[0] = 0xFC;  // one frame of 20 ms
    if (codec == Codec::mp3) {
        data.assign(384, 0x11);
        std::ranges::copy(hex("fffb9404"), data.begin());
    }
    Frame frame = codec::frames::audio(codec, data);
    frame.dts = 1s + number * 20ms;
    return frame;
}

Sample sample_of(Codec video, Codec audio, unsigned seed) {
    std::minstd_rand random(seed);
    Sample sample;
    sample.video_config =
        codec::frames::config(video, (video == Codec::avc ? codec::avc_vectors() : codec::hevc_vectors()).front().record);
    if (audio == Codec::aac)
        sample.audio_config = codec::frames::config(audio, hex("1190"));
    if (audio == Codec::opus)
        sample.audio_config = codec::frames::config(audio, codec::make_opus_head(2).value());
    TsConverter converter;
    EXPECT_TRUE(converter.push_video(sample.video_config, sample.bytes).ok());
    if (audio != Codec::mp3) {
        EXPECT_TRUE(converter.push_audio(sample.audio_config, sample.bytes).ok());
    }
    for (unsigned i = 0; i < 40; ++i) {
        sample.video.push_back(numbered_picture(video, i, random));
        EXPECT_TRUE(converter.push_video(sample.video.back(), sample.bytes).ok());
        for (unsigned j = 0; j < 2; ++j) {
            sample.audio.push_back(numbered_audio(audio, 2 * i + j, random));
            EXPECT_TRUE(converter.push_audio(sample.audio.back(), sample.bytes).ok());
        }
    }
    return sample;
}

void expect_same(const std::vector<Frame>& out, const std::vector<Frame>& in) {
    ASSERT_EQ(out.size(), in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        EXPECT_EQ(out[i].dts - Muxer::kDecodeDelay, in[i].dts) << i;
        EXPECT_EQ(out[i].cts, in[i].cts) << i;
        EXPECT_EQ(out[i].key, in[i].key) << i;
        EXPECT_EQ(out[i].codec, in[i].codec);
        ASSERT_TRUE(std::ranges::equal(out[i].data.bytes(), in[i].data.bytes())) << i;
    }
}

TEST(TsReader, ReadsMuxedFramesForEverySplit) {
    unsigned seed = 1;
    for (const Codec video : {Codec::avc, Codec::hevc})
        for (const Codec audio : {Codec::aac, Codec::opus, Codec::mp3}) {
            const Sample sample = sample_of(video, audio, ++seed);
            std::minstd_rand random(seed);
            TsReader reader;
            Units units;
            for (Bytes rest = sample.bytes; !rest.empty();) {
                const std::size_t size = std::min<std::size_t>(random() % 3'000 + 1, rest.size());
                reader.feed(rest.first(size));
                drain(reader, units);
                rest = rest.subspan(size);
            }
            reader.finish();
            drain(reader, units);
            expect_same(video_of(units), sample.video);
            expect_same(audio_of(units), sample.audio);
            const auto configs = of_kind(units, MediaKind::video, Content::config);
            ASSERT_EQ(configs.size(), 1u);
            EXPECT_TRUE(std::ranges::equal(configs[0].data.bytes(), sample.video_config.data.bytes()));
            const auto audio_configs = of_kind(units, MediaKind::audio, Content::config);
            ASSERT_EQ(audio_configs.size(), audio == Codec::mp3 ? 0u : 1u);
            if (audio != Codec::mp3) {
                EXPECT_TRUE(std::ranges::equal(audio_configs[0].data.bytes(), sample.audio_config.data.bytes()));
            }
            const auto counters = reader.counters();
            EXPECT_EQ(counters.gaps + counters.lost_units + counters.bad_tables + counters.skipped_bytes, 0u);
            EXPECT_EQ(reader.held_bytes(), 0u);
        }
}

TEST(TsReader, ToleratesBytesBetweenPackets) {
    const Sample sample = sample_of(Codec::avc, Codec::aac, 9);
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::minstd_rand random(seed);
        TsReader reader;
        Units units;
        for (std::size_t at = 0; at < sample.bytes.size();) {
            const std::size_t size = std::min<std::size_t>(188 * (random() % 30 + 3), sample.bytes.size() - at);
            reader.feed(Bytes(sample.bytes).subspan(at, size));
            at += size;
            Buffer garbage(at < sample.bytes.size() ? random() % 400 : 0);
            for (auto& byte : garbage)
                byte = static_cast<std::uint8_t>(random() % 0x47);
            reader.feed(garbage);
            drain(reader, units);
        }
        reader.finish();
        drain(reader, units);
        expect_same(video_of(units), sample.video);
        expect_same(audio_of(units), sample.audio);
        EXPECT_GT(reader.counters().skipped_bytes, 0u);
    }
}

TEST(TsReader, EveryPrefixGivesABeginOfTheFrames) {
    const Sample sample = sample_of(Codec::avc, Codec::aac, 3);
    std::size_t before = 0;
    for (std::size_t size = 0; size < 60 * 188; size += size % 188 == 1 ? 187 : 1) {
        const Units units = read_all(Bytes(sample.bytes).first(size));
        const auto video = video_of(units);
        ASSERT_GE(video.size() + 1, before) << "the last one may have been shorter than its length says";
        ASSERT_LE(video.size(), sample.video.size());
        for (std::size_t i = 0; i + 1 < video.size(); ++i)
            ASSERT_TRUE(std::ranges::equal(video[i].data.bytes(), sample.video[i].data.bytes()));
        before = video.size();
    }
}

// Pieces of several streams of other codecs, cut anywhere and put together, some of them scrambled or damaged. A whole stream
// follows and is read without a trace of the pieces, except for the part that its first key frame completes.
TEST(TsReader, ReadsAWholeStreamAfterSplicedOnes) {
    const std::array samples{sample_of(Codec::avc, Codec::aac, 11), sample_of(Codec::hevc, Codec::mp3, 12),
                             sample_of(Codec::avc, Codec::opus, 13)};
    std::minstd_rand random(14);
    TsReader reader;
    for (int round = 0; round < 200; ++round) {
        Buffer spliced;
        for (auto pieces = random() % 6; pieces > 0; --pieces) {
            const Buffer& from = samples[random() % samples.size()].bytes;
            const std::size_t begin = random() % from.size();
            const std::size_t size = std::min<std::size_t>(random() % 4'000, from.size() - begin);
            const auto at = from.begin() + static_cast<std::ptrdiff_t>(begin);
            spliced.insert(spliced.end(), at, at + static_cast<std::ptrdiff_t>(size));
            if (size > 0 && random() % 2 == 0)
                spliced[spliced.size() - 1 - random() % size] ^= static_cast<std::uint8_t>(1U << random() % 8);
        }
        const Sample& whole = samples[random() % samples.size()];
        Units units;
        reader.feed(spliced);
        drain(reader, units);
        ASSERT_LE(reader.held_bytes(), TsReader::kHeldBytesMax);
        units.clear();
        reader.feed(whole.bytes);
        drain(reader, units);
        // The last GOPs are complete, whatever preceded them; at most the last frame waits for the next one.
        const auto video = video_of(units);
        ASSERT_GE(video.size(), 30U) << round;
        for (std::size_t back = 1; back <= 30; ++back) {
            const auto& got = video[video.size() - back].data;
            const auto& sent = whole.video[whole.video.size() - back].data;
            ASSERT_TRUE(std::ranges::equal(got.bytes(), sent.bytes())) << round << ", " << back << " before the end";
        }
        ASSERT_GE(audio_of(units).size(), 60U) << round;
    }
}

TEST(TsReader, ALostPacketCostsOneFrameOfItsTrack) {
    const Sample sample = sample_of(Codec::avc, Codec::aac, 4);
    std::vector<std::size_t> video_packets;
    for (std::size_t at = 0; at < sample.bytes.size(); at += 188)
        if ((sample.bytes[at + 1] & 0x1F) == 1 && sample.bytes[at + 2] == 0 && (sample.bytes[at + 1] & 0x40) == 0)
            video_packets.push_back(at);
    ASSERT_GT(video_packets.size(), 50u);
    Buffer cut = sample.bytes;
    const auto at = cut.begin() + static_cast<std::ptrdiff_t>(video_packets[video_packets.size() / 2]);
    cut.erase(at, at + 188);
    TsReader reader;
    const Units units = read_all(reader, cut);
    EXPECT_EQ(video_of(units).size(), sample.video.size() - 1);
    EXPECT_EQ(audio_of(units).size(), sample.audio.size());
    EXPECT_EQ(reader.counters().gaps, 1u);
    EXPECT_EQ(reader.counters().lost_units, 1u);
}

TEST(TsReader, IgnoresADuplicatePacket) {
    TsBuilder ts;
    ts.tables({kAac});
    ts.unit(0x101, adts_pes(90'000, 400));
    const auto once = audio_of(read_all(ts.bytes)).size();
    Buffer twice;
    for (std::size_t at = 0; at < ts.bytes.size(); at += 188)
        for (int i = 0; i < 2; ++i)
            twice.insert(twice.end(), ts.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                         ts.bytes.begin() + static_cast<std::ptrdiff_t>(at + 188));
    TsReader reader;
    const auto frames = audio_of(read_all(reader, twice));
    ASSERT_EQ(frames.size(), once);
    EXPECT_EQ(frames[0].data.size(), 400u);
    EXPECT_EQ(reader.counters().gaps, 0u);
}

TEST(TsReader, AnnouncedDiscontinuityIsNoGap) {
    TsBuilder ts;
    ts.tables({kAac});
    ts.unit(0x101, adts_pes(90'000));
    ts.counters[0x101] = 9;
    ts.packet(0x101, true, adts_pes(5'000'000), true);
    TsReader reader;
    const auto frames = audio_of(read_all(reader, ts.bytes));
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(reader.counters().gaps, 0u);
    EXPECT_EQ(frames[1].dts, time_of(5'000'000));
}

TEST(TsReader, TimesContinueAcrossTheWrap) {
    TsBuilder ts;
    ts.tables({kAac, {0x0F, 0x102, {}}});
    const std::uint64_t start = kTicksMask - 9'000;
    for (std::uint64_t i = 0; i < 20; ++i) {
        ts.unit(0x101, adts_pes((start + i * 1'920) & kTicksMask));
        ts.unit(0x102, adts_pes((start + i * 1'920 - 900) & kTicksMask));
    }
    const auto frames = audio_of(read_all(ts.bytes));
    ASSERT_EQ(frames.size(), 40u);
    for (std::size_t i = 2; i < frames.size(); ++i)
        EXPECT_NEAR(static_cast<double>((frames[i].dts - frames[i - 2].dts).count()), 21'333, 1);
    EXPECT_NEAR(static_cast<double>((frames[38].dts - frames[39].dts).count()), 10'000, 1) << "both tracks on one line";
}

TEST(TsReader, ReadsTheFirstOrTheSelectedProgram) {
    TsBuilder ts;
    ts.section(0, built_association({{0, 0x10}, {5, 0x1000}, {7, 0x1100}}));
    ts.section(0x1100, built_map(7, {{0x0F, 0x201, {}}}));
    ts.section(0x1000, built_map(5, {{0x0F, 0x101, {}}}));
    ts.unit(0x101, adts_pes(90'000, 51));
    ts.unit(0x201, adts_pes(90'000, 71));
    for (const auto& [program, size] : {std::pair<std::uint16_t, std::size_t>{0, 51}, {5, 51}, {7, 71}}) {
        TsReader reader({.program = program});
        const auto frames = audio_of(read_all(reader, ts.bytes));
        ASSERT_EQ(frames.size(), 1u) << program;
        EXPECT_EQ(frames[0].data.size(), size);
    }
    TsReader none({.program = 9});
    EXPECT_TRUE(read_all(none, ts.bytes).empty());
}

TEST(TsReader, FollowsChangesOfTheTables) {
    TsBuilder ts;
    ts.tables({kAac});
    ts.unit(0x101, adts_pes(90'000));
    ts.tables({kAac, {0x0F, 0x102, {}}}, 1);
    ts.unit(0x101, adts_pes(91'920));
    ts.unit(0x102, adts_pes(91'920));
    ts.tables({{0x0F, 0x102, {}}}, 2);
    ts.unit(0x101, adts_pes(93'840));
    ts.unit(0x102, adts_pes(93'840));
    ts.section(0, built_association({{1, 0x1200}}, 1));
    ts.section(0x1200, built_map(1, {{0x0F, 0x109, {}}}));
    ts.unit(0x109, adts_pes(95'760));
    TsReader reader;
    const auto frames = audio_of(read_all(reader, ts.bytes));
    std::vector<int> tracks;
    for (const Frame& frame : frames)
        tracks.push_back(static_cast<int>(frame.track));
    EXPECT_EQ(tracks, (std::vector{0, 0, 1, 1, 0}));
    EXPECT_EQ(reader.version(), 4u);
}

TEST(TsReader, IgnoresTablesWithWrongChecksumsAndThoseOfTheFuture) {
    TsBuilder ts;
    ts.tables({kAac});
    auto broken = built_map(1, {{0x0F, 0x105, {}}}, 1);
    broken[13] ^= 0x01;
    ts.section(0x1000, broken);
    auto next = built_map(1, {{0x0F, 0x105, {}}}, 1);
    next[5] &= 0xFE;
    ByteWriter fixed;
    fixed.bytes(Bytes(next).first(next.size() - 4)).u32be(crc32_mpeg2(Bytes(next).first(next.size() - 4)));
    ts.section(0x1000, fixed.release());
    ts.unit(0x101, adts_pes(90'000));
    TsReader reader;
    EXPECT_EQ(audio_of(read_all(reader, ts.bytes)).size(), 1u);
    EXPECT_EQ(reader.counters().bad_tables, 1u);
}

TEST(TsReader, FurtherTracksWaitForTheFirst) {
    TsBuilder ts;
    ts.tables({kAac, {0x0F, 0x102, {}}});
    ts.unit(0x102, adts_pes(90'000));
    ts.unit(0x101, adts_pes(90'000));
    ts.unit(0x102, adts_pes(91'920));
    const Units units = read_all(ts.bytes);
    std::vector<std::pair<int, Content>> order;
    for (const auto& unit : units)
        order.emplace_back(static_cast<int>(unit.frame.track), unit.frame.content);
    EXPECT_EQ(order, (std::vector<std::pair<int, Content>>{
                         {0, Content::config}, {0, Content::frame}, {1, Content::config}, {1, Content::frame}}));
    TsBuilder silent;
    silent.tables({kAac, {0x0F, 0x102, {}}});
    for (std::uint64_t i = 0; i < TsReader::kFramesLeftOut + 10; ++i)
        silent.unit(0x102, adts_pes(90'000 + i * 1'920));
    const auto late = audio_of(read_all(silent.bytes));
    EXPECT_GE(late.size(), 10u);
    EXPECT_LE(late.size(), 12u);
}

TEST(TsReader, KeepsDataAsItIs) {
    TsBuilder ts;
    const auto splice = built_section(0xFC, 0, 0, hex("00112233"));
    ts.tables(
        {{0x86, 0x120, {}}, {0x15, 0x121, hex("26 0d ffff 49443320 ff 49443320 000f")}, {0x06, 0x122, hex("05 04 4b4c5641")}});
    ts.unit(0x121, built_pes(0xBD, {.pts = 90'000}, as_bytes("ID3...")));
    ts.section(0x120, splice);
    auto broken = splice;
    broken.back() ^= 1;
    ts.section(0x120, broken);
    ts.unit(0x122, built_pes(0xBD, {}, as_bytes("KLV...")));
    TsReader reader;
    const Units units = read_all(reader, ts.bytes);
    ASSERT_EQ(units.size(), 3u);
    EXPECT_EQ(units[0].format, StreamFormat::id3);
    EXPECT_EQ(as_text(units[0].frame.data.bytes()), "ID3...");
    EXPECT_EQ(units[0].frame.dts, 1s);
    EXPECT_EQ(units[1].format, StreamFormat::scte35);
    EXPECT_TRUE(std::ranges::equal(units[1].frame.data.bytes(), splice));
    EXPECT_EQ(units[2].format, StreamFormat::klv);
    EXPECT_EQ(reader.counters().bad_tables, 1u);
}

TEST(TsReader, LeavesOutTracksBeyondItsLimit) {
    std::vector<BuiltStream> streams;
    for (std::uint16_t i = 0; i <= TsReader::kTracksMax; ++i)
        streams.push_back({0x0F, static_cast<std::uint16_t>(0x101 + i), {}});
    TsBuilder ts;
    ts.tables(streams);
    for (const BuiltStream& stream : streams)
        ts.unit(stream.pid, adts_pes(90'000));
    EXPECT_EQ(audio_of(read_all(ts.bytes)).size(), TsReader::kTracksMax);
}

TEST(TsReader, HoldsNoMoreThanItsLimit) {
    std::vector<BuiltStream> streams;
    for (std::uint16_t i = 0; i < 10; ++i)
        streams.push_back({0x1B, static_cast<std::uint16_t>(0x101 + i), {}});
    TsReader reader;
    TsBuilder ts;
    ts.tables(streams);
    for (const BuiltStream& stream : streams)
        ts.unit(stream.pid, built_pes(0xE0, {.pts = 1}, Buffer(4U << 20, 1), false));
    for (Bytes rest = ts.bytes; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 50'000))) {
        reader.feed(rest.first(std::min<std::size_t>(rest.size(), 50'000)));
        while (reader.next()) {
        }
        ASSERT_LE(reader.held_bytes(), TsReader::kHeldBytesMax + PesAssembler::kUnitBytesMax);
    }
    EXPECT_GT(reader.counters().lost_units, 0u);
}

TEST(TsReader, CountsScrambledAndDamagedPackets) {
    TsBuilder ts;
    ts.tables({kAac});
    const std::size_t at = ts.bytes.size();
    ts.unit(0x101, adts_pes(90'000));
    ts.unit(0x101, adts_pes(91'920));
    ts.bytes[at + 3] |= 0x80;
    ts.bytes[at + 188 + 1] |= 0x80;
    TsReader reader;
    EXPECT_TRUE(read_all(reader, ts.bytes).empty());
    EXPECT_EQ(reader.counters().scrambled, 1u);
    EXPECT_EQ(reader.counters().damaged, 1u);
}

// The same table with other reserved bits, which mean nothing: to the reader each is a table that it has not seen.
Buffer varied(Buffer section, unsigned number) {
    if (section[0] != 2)
        return section;
    section.resize(section.size() - 4);
    section[8] = static_cast<std::uint8_t>((section[8] & 0x1F) | number << 5);
    const std::uint32_t crc = crc32_mpeg2(section);
    for (const unsigned shift : {24U, 16U, 8U, 0U})
        section.push_back(static_cast<std::uint8_t>(crc >> shift));
    return section;
}

// A stream whose tables are repeated between the frames, and change now and then: lists and maps of two programs, damaged ones,
// and ones in two packets.
Buffer stream_with_tables(unsigned seed, bool repeats) {
    std::mt19937 random(seed);
    TsBuilder ts;
    Buffer map;
    unsigned number = 0;
    std::uint16_t pid = 0x1000;
    const auto change = [&] {
        std::vector<BuiltStream> streams{{0x1B, 0x100, {}}};
        if (random() % 2 == 0)
            streams.push_back({0x0F, 0x101, {}});
        if (random() % 4 == 0)
            streams.push_back({0x86, 0x102, Buffer(200, 0x80)});  // descriptors that need a second packet
        pid = random() % 3 == 0 ? 0x1001 : 0x1000;
        map = built_map(pid == 0x1000 ? 1 : 2, streams, random() % 32);
    };
    change();
    for (unsigned i = 0; i < 60; ++i) {
        if (random() % 8 == 0)
            change();
        ts.section(0, built_association({{static_cast<std::uint16_t>(pid == 0x1000 ? 1 : 2), pid}}));
        Buffer section = repeats ? map : varied(map, ++number % 8);
        if (random() % 10 == 0)
            section[5] ^= 0x02;  // its checksum is wrong
        ts.section(pid, section);
        if (random() % 10 == 0)
            ts.packet(pid, true, Bytes(ts.bytes).last(184));  // something else there
        ts.unit(0x100,
                built_pes(0xE0, {.pts = 3'600 * i}, hex("00000001 67640028acd940 00000001 68ebe3cb22c0 00000001 6588aabb")));
        ts.unit(0x101, adts_pes(3'600 * i));
    }
    return ts.bytes;
}

TEST(TsReader, TablesThatAreRepeatedAreReadLikeOthers) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        TsReader repeated;
        TsReader other;
        const Units left = read_all(repeated, stream_with_tables(seed, true));
        const Units right = read_all(other, stream_with_tables(seed, false));
        ASSERT_EQ(left.size(), right.size()) << "seed " << seed;
        for (std::size_t i = 0; i < left.size(); ++i) {
            EXPECT_EQ(left[i].kind, right[i].kind);
            EXPECT_EQ(left[i].frame.dts, right[i].frame.dts);
            EXPECT_TRUE(std::ranges::equal(left[i].frame.data.bytes(), right[i].frame.data.bytes()));
        }
        EXPECT_EQ(repeated.version(), other.version()) << "seed " << seed;
        EXPECT_EQ(repeated.program(), other.program()) << "seed " << seed;
        EXPECT_EQ(repeated.counters().bad_tables, other.counters().bad_tables) << "seed " << seed;
        EXPECT_EQ(repeated.counters().lost_units, other.counters().lost_units) << "seed " << seed;
    }
}

}  // namespace
}  // namespace live::wire::ts
