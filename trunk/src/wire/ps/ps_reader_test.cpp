#include "wire/ps/ps_reader.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "base/rounds_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/ps/ps_builder_fixture.hpp"

namespace live::wire::ps {
namespace {

using codec::Codec;
using codec::Content;
using codec::Frame;
using Buffer = std::vector<std::uint8_t>;
using Units = std::vector<PsReader::Unit>;

const Buffer kAvcSets = hex("00000001 67640028acd940 00000001 68ebe3cb22c0");
const std::vector<ProgramMap::Stream> kAvcAndG711 = {{0xE0, 0x1B}, {0xC0, 0x90}};

void drain(PsReader& reader, Units& out) {
    while (auto unit = reader.next())
        out.push_back(*std::move(unit));
}
Units read_all(PsReader& reader, Bytes bytes, std::size_t step = SIZE_MAX) {
    Units out;
    while (!bytes.empty()) {
        const std::size_t size = std::min(step, bytes.size());
        reader.feed(bytes.first(size));
        drain(reader, out);
        bytes = bytes.subspan(size);
    }
    reader.finish();
    drain(reader, out);
    return out;
}
Units read_all(Bytes bytes) {
    PsReader reader;
    return read_all(reader, bytes);
}
std::vector<Frame> of_kind(const Units& units, MediaKind kind, Content content = Content::frame) {
    std::vector<Frame> frames;
    for (const PsReader::Unit& unit : units)
        if (unit.kind == kind && unit.frame.content == content)
            frames.push_back(unit.frame);
    return frames;
}
std::vector<Frame> video_of(const Units& units) { return of_kind(units, MediaKind::video); }
std::vector<Frame> audio_of(const Units& units) { return of_kind(units, MediaKind::audio); }

// An access unit of H.264; a key frame has its parameter sets.
Buffer image(bool key, std::size_t size, std::uint8_t fill = 0xAB) {
    Buffer out = key ? kAvcSets : Buffer();
    const Buffer head = hex(key ? "00000001 65" : "00000001 41");
    out.insert(out.end(), head.begin(), head.end());
    out.resize(out.size() + size, fill);
    return out;
}

Buffer hevc_image(std::size_t size) {
    Buffer out;
    const auto config = codec::parse_hevc_config(codec::hevc_vectors()[0].record).value();
    const auto add = [&out](Bytes unit) {
        out.insert(out.end(), {0, 0, 0, 1});
        out.insert(out.end(), unit.begin(), unit.end());
    };
    for (const auto& array : config.arrays)
        for (const auto& unit : array.units)
            add(unit);
    Buffer slice = hex("2601");
    slice.resize(slice.size() + size, 0xAB);
    add(slice);
    return out;
}

// One second of a camera: images, and G.711 of 40 ms after each.
Buffer second_of_a_camera(bool with_maps = true, std::uint64_t begin = 90'000) {
    PsBuilder ps;
    for (std::uint64_t i = 0; i < 25; ++i) {
        const std::uint64_t time = begin + i * 3'600;
        ps.pack(time, static_cast<std::uint8_t>(i % 8));
        if (i == 0)
            ps.system_header();
        if (i == 0 && with_maps)
            ps.map(kAvcAndG711);
        ps.split_pes(0xE0, time, image(i == 0, i == 0 ? 150'000 : 3'000 + i), 60'000);
        ps.pes(0xC0, time, Buffer(320, 0xD5));
    }
    return ps.bytes;
}

TEST(PsReader, ReadsACamera) {
    PsReader reader;
    const Units units = read_all(reader, second_of_a_camera());
    const auto video = video_of(units);
    ASSERT_EQ(video.size(), 25u);
    EXPECT_EQ(of_kind(units, MediaKind::video, Content::config).size(), 1u);
    for (std::size_t i = 0; i < video.size(); ++i) {
        EXPECT_EQ(video[i].codec, Codec::avc);
        EXPECT_EQ(video[i].key, i == 0);
        EXPECT_EQ(video[i].dts, 1s + i * 40ms);
        EXPECT_EQ(video[i].data.size(), (i == 0 ? 150'000 : 3'000 + i) + 5) << "one NAL unit, behind its length";
    }
    const auto audio = audio_of(units);
    ASSERT_EQ(audio.size(), 25u);
    EXPECT_EQ(audio[3].codec, Codec::g711a);
    EXPECT_EQ(audio[3].dts, 1s + 120ms);
    EXPECT_EQ(audio[3].data.size(), 320u);
    EXPECT_EQ(reader.counters().packs, 25u);
    EXPECT_EQ(reader.counters().lost_units, 0u);
    EXPECT_EQ(reader.counters().skipped_bytes, 0u);
    EXPECT_EQ(reader.held_bytes(), 0u);
}

TEST(PsReader, InputMayBeCutAnywhere) {
    const Buffer bytes = second_of_a_camera();
    const Units whole = read_all(bytes);
    for (const std::size_t step : {1U, 2U, 3U, 7U, 188U, 1'400U, 65'535U}) {
        PsReader reader;
        const Units units = read_all(reader, bytes, step);
        ASSERT_EQ(units.size(), whole.size()) << step;
        for (std::size_t i = 0; i < units.size(); ++i)
            ASSERT_TRUE(std::ranges::equal(units[i].frame.data.bytes(), whole[i].frame.data.bytes())) << step;
    }
}

TEST(PsReader, EveryTruncationIsHarmless) {
    PsBuilder ps;
    ps.pack(0, 3).system_header().map(kAvcAndG711).pes(0xE0, 90'000, image(true, 30)).pes(0xC0, 90'000, Buffer(20, 1));
    ps.pack().pes(0xE0, 93'600, image(false, 30), false).pack().pes(0xE0, 97'200, image(false, 30));
    for (std::size_t size = 0; size <= ps.bytes.size(); ++size) {
        PsReader reader;
        const Units units = read_all(reader, Bytes(ps.bytes).first(size));
        EXPECT_LE(video_of(units).size(), 3u);
        EXPECT_EQ(reader.held_bytes(), 0u);
    }
    EXPECT_EQ(video_of(read_all(ps.bytes)).size(), 3u);
}

TEST(PsReader, GuessesCodecsWithoutAMap) {
    PsBuilder ps;
    for (std::uint64_t i = 0; i < 5; ++i)
        ps.pack().pes(0xC0, 90'000 + i * 1'920, built_adts(50)).pes(0xE0, 90'000 + i * 3'600, hevc_image(100));
    PsReader reader;
    const Units units = read_all(reader, ps.bytes);
    EXPECT_EQ(video_of(units).size(), 5u);
    EXPECT_EQ(video_of(units)[0].codec, Codec::hevc);
    EXPECT_EQ(audio_of(units).size(), 5u);
    EXPECT_EQ(audio_of(units)[0].codec, Codec::aac);
    EXPECT_EQ(of_kind(units, MediaKind::audio, Content::config).size(), 1u);
    EXPECT_EQ(reader.tracks().size(), 2u);
}

TEST(PsReader, UnknownAudioWithoutAMapIsG711) {
    const auto audio = audio_of(read_all(second_of_a_camera(false)));
    ASSERT_EQ(audio.size(), 25u - (PsReader::kUnknownAudioMax - 1));
    EXPECT_EQ(audio[0].codec, Codec::g711a);
    EXPECT_EQ(audio[0].dts, 1s + (PsReader::kUnknownAudioMax - 1) * 40ms);
}

TEST(PsReader, QuietMuLawWithoutAMapIsMuLaw) {
    PsBuilder ps;
    for (std::uint64_t i = 0; i < 5; ++i)
        ps.pack().pes(0xC0, 90'000 + i * 3'600, Buffer(320, i % 2 == 0 ? 0xFE : 0x7D));
    const auto audio = audio_of(read_all(ps.bytes));
    ASSERT_EQ(audio.size(), 5u - (PsReader::kUnknownAudioMax - 1));
    EXPECT_EQ(audio[0].codec, Codec::g711u);
}

TEST(PsReader, BytesOverruleTheMap) {
    PsBuilder ps;
    ps.pack().map({{0xE0, 0x1B}, {0xC0, 0x90}});
    for (std::uint64_t i = 0; i < 4; ++i)
        ps.pes(0xE0, 90'000 + i * 3'600, hevc_image(50)).pes(0xC0, 90'000 + i * 1'920, built_adts(50));
    const Units units = read_all(ps.bytes);
    EXPECT_EQ(video_of(units)[0].codec, Codec::hevc);
    const auto audio = audio_of(units);
    ASSERT_EQ(audio.size(), 3u) << "one packet does not overrule it";
    EXPECT_EQ(audio[0].codec, Codec::aac);
}

TEST(PsReader, AMapWithAWrongChecksumServesUntilAValidOne) {
    const std::vector<ProgramMap::Stream> law = {{0xC0, 0x91}};
    PsBuilder ps;
    ps.pack().map(law, false).pes(0xC0, 90'000, Buffer(160, 1));
    ps.pack().map({{0xC0, 0x90}}).pes(0xC0, 91'800, Buffer(160, 1));
    ps.pack().map(law, false).pes(0xC0, 93'600, Buffer(160, 1));
    PsReader reader;
    const auto audio = audio_of(read_all(reader, ps.bytes));
    ASSERT_EQ(audio.size(), 3u);
    EXPECT_EQ(audio[0].codec, Codec::g711u);
    EXPECT_EQ(audio[1].codec, Codec::g711a);
    EXPECT_EQ(audio[2].codec, Codec::g711a);
    EXPECT_EQ(reader.counters().bad_maps, 2u);
}

TEST(PsReader, LeavesOutCodecsThatAreNotSupported) {
    PsBuilder ps;
    ps.pack().map({{0xE0, 0x1B}, {0xC0, 0x92}});
    for (std::uint64_t i = 0; i < 6; ++i)
        ps.pes(0xC0, 90'000, Buffer(40, 7)).pes(0xBD, 90'000, Buffer(40, 7));
    PsReader reader;
    EXPECT_TRUE(read_all(reader, ps.bytes).empty());
    EXPECT_EQ(reader.counters().left_out, 12u);
}

TEST(PsReader, OnePacketForEachNalUnitIsOneImage) {
    PsBuilder ps;
    ps.pack().map(kAvcAndG711);
    for (std::uint64_t i = 0; i < 3; ++i) {
        ps.pes(0xE0, 90'000 + i * 3'600, hex("00000001 67640028acd940")).pes(0xE0, std::nullopt, hex("00000001 68ebe3cb22c0"));
        ps.pes(0xE0, 90'000 + i * 3'600, hex("00000001 6588aabb")).pes(0xE0, std::nullopt, hex("00000001 6588ccdd"));
    }
    const auto video = video_of(read_all(ps.bytes));
    ASSERT_EQ(video.size(), 3u);
    EXPECT_TRUE(std::ranges::equal(video[1].data.bytes(), hex("00000004 6588aabb 00000004 6588ccdd")));
}

TEST(PsReader, PacketsOfUnknownLengthEndAtTheNextStart) {
    PsBuilder ps;
    ps.pack().pes(0xE0, 90'000, image(true, 200'000), false);
    ps.pes(0xC0, 90'000, built_adts(60));
    ps.pack().pes(0xE0, 93'600, image(false, 100), false);
    for (const std::size_t step : {std::size_t{1'000}, SIZE_MAX}) {
        PsReader reader;
        const Units units = read_all(reader, ps.bytes, step);
        ASSERT_EQ(video_of(units).size(), 2u);
        EXPECT_EQ(video_of(units)[0].data.size(), 200'005u);
        EXPECT_EQ(audio_of(units).size(), 1u);
    }
}

TEST(PsReader, ResumesAfterGarbageAtTheNextPack) {
    PsBuilder ps;
    ps.raw(hex("00ff0001020000")).pack().pes(0xE0, 90'000, image(true, 100));
    ps.raw(Buffer(777, 0x55)).raw(hex("000001e0 0004 12345678"));
    ps.pack().pes(0xE0, 93'600, image(false, 100));
    PsReader reader;
    EXPECT_EQ(video_of(read_all(reader, ps.bytes)).size(), 2u);
    EXPECT_EQ(reader.counters().resyncs, 1u);
    EXPECT_EQ(reader.counters().skipped_bytes, 7u + 777 + 10);
    EXPECT_EQ(reader.counters().lost_units, 0u);
}

TEST(PsReader, ADeviceThatRestartsInsideAPacketLosesThatImage) {
    PsBuilder ps;
    ps.pack().map(kAvcAndG711).pes(0xE0, 90'000, image(true, 100));
    PsBuilder cut;
    cut.pes(0xE0, 93'600, image(false, 5'000));
    ps.raw(Bytes(cut.bytes).first(2'000));
    for (std::uint64_t i = 0; i < 5; ++i)
        ps.pack().pes(0xE0, 900'000 + i * 3'600, image(i == 0, 3'000));
    PsReader reader;
    const auto video = video_of(read_all(reader, ps.bytes));
    ASSERT_EQ(video.size(), 6u);
    EXPECT_EQ(video[1].dts, 10s);
    EXPECT_TRUE(video[1].key);
    EXPECT_EQ(reader.counters().lost_units, 1u);
}

TEST(PsReader, LostBytesCostTheImageTheyBelongTo) {
    PsBuilder first;
    first.pack().pes(0xE0, 90'000, image(true, 100)).pack().pes(0xE0, 93'600, image(false, 100));
    PsBuilder begun;
    begun.pack().pes(0xE0, 97'200, image(false, 60'000));
    PsBuilder rest;
    rest.pes(0xE0, std::nullopt, Buffer(500, 1)).pack().pes(0xE0, std::nullopt, Buffer(500, 1));
    rest.pack().pes(0xE0, 100'800, image(false, 100)).pack().pes(0xE0, 104'400, image(false, 100));
    PsReader reader;
    Units units;
    reader.feed(first.bytes);
    reader.feed(Bytes(begun.bytes).first(30'000));
    reader.lose();
    EXPECT_EQ(reader.held_bytes(), 0u);
    reader.feed(Bytes(begun.bytes).subspan(31'000));
    reader.feed(rest.bytes);
    reader.finish();
    drain(reader, units);
    std::vector<MediaTime> times;
    for (const Frame& frame : video_of(units))
        times.push_back(frame.dts);
    EXPECT_EQ(times, (std::vector<MediaTime>{1s, 1120ms, 1160ms})) << "the image before the gap was not known to be complete";
}

TEST(PsReader, MarksEndImagesOnceTheyAreReliable) {
    PsReader reader;
    std::size_t at_mark = 0;
    for (std::uint64_t i = 0; i < PsReader::kMarksToTrust + 10; ++i) {
        PsBuilder ps;
        ps.pack().pes(0xE0, 90'000 + i * 3'600, image(i == 0, 100));
        reader.feed(ps.bytes);
        Units before;
        drain(reader, before);
        reader.mark();
        Units units;
        drain(reader, units);
        at_mark += video_of(units).size();
    }
    EXPECT_EQ(at_mark, 10u);
}

TEST(PsReader, MarksInsideImagesAreIgnored) {
    PsReader reader;
    Units units;
    for (std::uint64_t i = 0; i < 2 * PsReader::kMarksToTrust; ++i) {
        PsBuilder ps;
        ps.pack().split_pes(0xE0, 90'000 + i * 3'600, image(i == 0, i == 40 ? 100'000 : 100), 60'000);
        for (Bytes rest = ps.bytes; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 1'400))) {
            reader.feed(rest.first(std::min<std::size_t>(rest.size(), 1'400)));
            if (i < 30 || i == 40)
                reader.mark();
            drain(reader, units);
        }
    }
    reader.finish();
    drain(reader, units);
    EXPECT_EQ(video_of(units).size(), 2 * PsReader::kMarksToTrust);
    EXPECT_EQ(reader.counters().lost_units, 0u);
}

TEST(PsReader, TimesGoOnWhereTheyWrap) {
    PsBuilder ps;
    constexpr std::uint64_t kTurn = ts::kTicksMask;
    ps.pack().pes(0xE0, kTurn - 3'599, image(true, 10)).pes(0xE0, 0, image(false, 10)).pes(0xE0, 3'600, image(false, 10));
    const auto video = video_of(read_all(ps.bytes));
    ASSERT_EQ(video.size(), 3u);
    EXPECT_EQ(video[1].dts - video[0].dts, 40ms);
    EXPECT_EQ(video[2].dts - video[1].dts, 40ms);
}

TEST(PsReader, LongG711PacketsAreSplit) {
    PsBuilder ps;
    ps.pack()
        .map({{0xC0, 0x91}})
        .pes(0xC0, 90'000, Buffer(PsReader::kG711FrameBytesMax + 8, 1))
        .pes(0xC0, std::nullopt, Buffer(8, 1));
    const auto audio = audio_of(read_all(ps.bytes));
    ASSERT_EQ(audio.size(), 3u);
    EXPECT_EQ(audio[1].dts, 1s + 512ms);
    EXPECT_EQ(audio[2].dts, 1s + 513ms);
}

TEST(PsReader, MpegOnePacksAndTheEndCodeAreRead) {
    PsBuilder ps;
    ps.raw(hex("000001ba 2100010001 800001")).pes(0xE0, 90'000, image(true, 10)).raw(hex("000001b9"));
    ps.pack().pes(0xE0, 93'600, image(false, 10));
    EXPECT_EQ(video_of(read_all(ps.bytes)).size(), 2u);
}

TEST(PsReader, LeavesOutStreamsBeyondItsLimit) {
    PsBuilder ps;
    ps.pack();
    for (std::uint8_t i = 0; i <= PsReader::kStreamsMax; ++i)
        ps.pes(static_cast<std::uint8_t>(0xC0 + i), 90'000, built_adts(20));
    PsReader reader;
    EXPECT_EQ(audio_of(read_all(reader, ps.bytes)).size(), PsReader::kStreamsMax);
    EXPECT_EQ(reader.counters().left_out, 1u);
    EXPECT_EQ(reader.tracks().back().track, codec::TrackId{3});
}

TEST(PsReader, HoldsNoMoreThanItsLimit) {
    const Buffer zeros(60'000, 0);
    PsReader reader;
    PsBuilder head;
    head.pack();
    for (std::uint8_t id = 0xE0; id < 0xE4; ++id)
        head.pes(id, 1, zeros);
    reader.feed(head.bytes);
    for (unsigned i = 0; i < 200; ++i)
        for (std::uint8_t id = 0xE0; id < 0xE4; ++id) {
            reader.feed(ts::built_pes(id, {}, zeros));
            ASSERT_LE(reader.held_bytes(), PsReader::kHeldBytesMax + (2U << 20));
        }
    EXPECT_GT(reader.counters().lost_units, 0u);
    PsReader endless;
    endless.feed(PsBuilder().pack().pes(0xE0, 1, image(true, 10), false).bytes);
    for (unsigned i = 0; i < 200; ++i) {
        endless.feed(zeros);
        ASSERT_LE(endless.held_bytes(), PsReader::kUnitBytesMax + zeros.size() + 100);
    }
    EXPECT_EQ(endless.counters().lost_units, 1u);
}

// Packs with random damage between them. The images of all undamaged packs arrive in order.
TEST(PsReader, ReadsEveryWholePackBetweenDamage) {
    for (unsigned seed = 0; seed < rounds(60U, 2'000U); ++seed) {
        std::minstd_rand random(seed);
        PsBuilder ps;
        std::vector<std::uint64_t> sent;
        for (std::uint64_t i = 0; i < 40; ++i) {
            PsBuilder one;
            one.pack(i, static_cast<std::uint8_t>(random() % 8));
            if (random() % 3 == 0)
                one.system_header();
            if (random() % 4 == 0)
                one.map(kAvcAndG711, random() % 5 != 0);
            const std::size_t head = one.bytes.size() + 14;  // with the time of the image
            one.split_pes(0xE0, 90'000 + i * 3'600,
                          image(i % 8 == 0, 1 + random() % 9'000, static_cast<std::uint8_t>(random() | 3)), 1 + random() % 4'000);
            const bool is_cut = i > 0 && i < 35 && random() % 8 == 0;
            if (is_cut)
                one.bytes.resize(head + random() % (one.bytes.size() - head));
            else
                sent.push_back(90'000 + i * 3'600);
            ps.raw(one.bytes);
            if (random() % 6 == 0)
                ps.raw(Buffer(random() % 300, static_cast<std::uint8_t>(random() | 2)));
        }
        ps.raw(Buffer(70'000, 0x55));  // a length that was cut may cover 64 KiB
        PsReader reader;
        const auto video = video_of(read_all(reader, ps.bytes));
        std::size_t found = 0;
        for (const Frame& frame : video)
            if (found < sent.size() && frame.dts == ts::time_of(static_cast<std::int64_t>(sent[found])))
                ++found;
        EXPECT_EQ(found, sent.size()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace live::wire::ps
