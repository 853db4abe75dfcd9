#include "wire/mp4/fragment_writer.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/media_fixture.hpp"
#include "wire/mp4/sample_reader.hpp"

namespace live::wire::mp4 {
namespace {

using Body = std::vector<std::uint8_t>;

std::uint32_t u32_at(const Body& bytes, std::size_t at) { return MUST(ByteReader(Bytes(bytes).subspan(at)).u32be()); }

TEST(FragmentWriter, HeaderDescribesTheTracks) {
    const FragmentWriter writer({avc_track(), aac_track()});
    ByteWriter out;
    writer.write_init(out);
    const TestBox file = read_file(out.written());
    ASSERT_EQ(file.children.size(), 2u);
    EXPECT_EQ(file.children[0].type, "ftyp");
    const TestBox& movie = file.child("moov");
    const auto tracks = movie.all("trak");
    ASSERT_EQ(tracks.size(), 2u);
    EXPECT_EQ(u32_at(tracks[0]->child("tkhd").content, 12), 1u);
    EXPECT_EQ(u32_at(tracks[0]->child("tkhd").content, 76), 1'280u << 16);
    EXPECT_EQ(u32_at(tracks[1]->child("tkhd").content, 12), 2u);
    EXPECT_EQ(u32_at(tracks[0]->child("mdia").child("mdhd").content, 12), 90'000u);
    EXPECT_EQ(u32_at(tracks[1]->child("mdia").child("mdhd").content, 12), 44'100u);
    EXPECT_TRUE(tracks[0]->child("mdia").child("minf").has("vmhd"));
    EXPECT_TRUE(tracks[1]->child("mdia").child("minf").has("smhd"));
    const auto& table = tracks[0]->child("mdia").child("minf").child("stbl");
    const Body description(table.child("stsd").content.begin() + 8, table.child("stsd").content.end());
    EXPECT_EQ(description, avc_track().sample_entry);
    for (const char* type : {"stts", "stsc", "stsz", "stco"})
        EXPECT_TRUE(table.has(type)) << type;
    const auto defaults = movie.child("mvex").all("trex");
    ASSERT_EQ(defaults.size(), 2u);
    EXPECT_EQ(u32_at(defaults[0]->content, 20), 0x01010000u) << "pictures are no keys unless they say so";
    EXPECT_EQ(u32_at(defaults[1]->content, 20), 0x02000000u);
}

TEST(FragmentWriter, RecordingHeaderHasTheDuration) {
    const FragmentWriter writer({avc_track(), aac_track()});
    ByteWriter unknown;
    writer.write_init(unknown);
    ByteWriter known;
    writer.write_init(known, 12h);
    EXPECT_EQ(known.size(), unknown.size());
    const TestBox file = read_file(known.written());
    EXPECT_EQ(u32_at(file.child("moov").child("mvhd").content, 16), 12u * 3'600'000);
    EXPECT_EQ(u32_at(file.child("moov").all("trak")[1]->child("mdia").child("mdhd").content, 16), 12u * 3'600 * 44'100);
}

TEST(FragmentWriter, PutsBothKindsIntoOneFragment) {
    FragmentWriter writer({avc_track(), aac_track()});
    EXPECT_TRUE(writer.empty());
    ASSERT_TRUE(writer.push(0, sample_of(1s, 3, 0xA0, true, 80ms)).ok());
    ASSERT_TRUE(writer.push(1, sample_of(1s + 5ms, 2, 0xB0)).ok());
    ASSERT_TRUE(writer.push(0, sample_of(1s + 40ms, 1, 0xA1, false, -40ms)).ok());
    ASSERT_TRUE(writer.push(1, sample_of(1s + 28ms, 4, 0xB1)).ok());
    EXPECT_EQ(writer.samples(), 4u);
    EXPECT_EQ(writer.bytes(), 10u);
    ByteWriter out;
    writer.cut(out, FragmentWriter::Next{.track = 0, .dts = 1s + 73ms});
    EXPECT_TRUE(writer.empty());
    const auto samples = fragment_samples(out.written());
    const std::vector<TestSample> pictures = {{90'000, 7'200, 3'600, true, Body(3, 0xA0)},
                                              {93'600, -3'600, 2'970, false, Body(1, 0xA1)}};
    EXPECT_EQ(samples.at(1), pictures);
    const std::vector<TestSample> audio_frames = {{44'321, 0, 1'024, true, Body(2, 0xB0)},
                                                  {45'345, 0, 1'024, true, Body(4, 0xB1)}};
    EXPECT_EQ(samples.at(2), audio_frames);
}

TEST(FragmentWriter, FragmentsOfAnyLengthAreContiguous) {
    FragmentWriter writer({avc_track(), aac_track()});
    ByteWriter out;
    MediaTime audio{};
    int cuts = 0;
    for (int i = 0; i < 300; ++i) {
        const MediaTime dts = std::chrono::milliseconds(i * 1'000 / 30);
        // After 1, 2, 3, ... frames.
        if (i == cuts * (cuts + 1) / 2) {
            writer.cut(out, FragmentWriter::Next{.track = 0, .dts = dts});
            ++cuts;
        }
        ASSERT_TRUE(writer.push(0, sample_of(dts, 7, 1, i % 60 == 0)).ok());
        for (; audio < dts; audio += MediaTime(23'220))
            ASSERT_TRUE(writer.push(1, sample_of(std::chrono::floor<std::chrono::milliseconds>(audio), 5, 2)).ok());
    }
    writer.cut(out);
    auto samples = fragment_samples(out.written());
    ASSERT_EQ(samples[1].size(), 300u);
    for (auto& [id, list] : samples)
        for (std::size_t i = 1; i < list.size(); ++i)
            EXPECT_EQ(list[i].tick, list[i - 1].tick + list[i - 1].ticks) << "track " << id << ", sample " << i;
    for (const TestSample& sample : samples[2])
        EXPECT_EQ(sample.ticks, 1'024u);
    std::uint32_t sequence = 0;
    for (const TestBox& box : read_boxes(out.written())) {
        if (box.type != "moof")
            continue;
        EXPECT_EQ(u32_at(box.child("mfhd").content, 4), ++sequence);
    }
    EXPECT_EQ(sequence, 24u);
}

TEST(FragmentWriter, AFragmentMayHoldOneKindOnly) {
    FragmentWriter writer({avc_track(), aac_track()});
    ASSERT_TRUE(writer.push(1, sample_of(2s, 2, 0xB0)).ok());
    ByteWriter out;
    writer.cut(out, FragmentWriter::Next{.track = 0, .dts = 3s});
    const auto boxes = read_boxes(out.written());
    ASSERT_EQ(boxes.size(), 2u);
    EXPECT_EQ(boxes[0].all("traf").size(), 1u);
    EXPECT_EQ(fragment_samples(out.written()).at(2).size(), 1u);
    ASSERT_TRUE(writer.push(0, sample_of(3s, 2, 0xB0, false)).ok());
    ByteWriter none;
    FragmentWriter idle({aac_track()});
    idle.cut(none);
    EXPECT_EQ(none.size(), 0u);
}

TEST(FragmentWriter, ChoosesTheDurationOfTheLastSample) {
    FragmentWriter writer({avc_track()});
    const auto last_ticks = [&](std::optional<FragmentWriter::Next> next) {
        ByteWriter out;
        writer.cut(out, next);
        return fragment_samples(out.written()).at(1).back().ticks;
    };
    ASSERT_TRUE(writer.push(0, sample_of(0ms, 1, 1)).ok());
    EXPECT_EQ(last_ticks({}), 3'600u) << "nothing known: 25 pictures a second";
    ASSERT_TRUE(writer.push(0, sample_of(20ms, 1, 1)).ok());
    ASSERT_TRUE(writer.push(0, sample_of(40ms, 1, 1)).ok());
    EXPECT_EQ(last_ticks({}), 1'800u) << "as the one before";
    ASSERT_TRUE(writer.push(0, sample_of(60ms, 1, 1)).ok());
    EXPECT_EQ(last_ticks(FragmentWriter::Next{.track = 0, .dts = 1s}), 84'600u) << "as what follows says";
    ASSERT_TRUE(writer.push(0, sample_of(1s, 1, 1)).ok());
    EXPECT_EQ(last_ticks(FragmentWriter::Next{.track = 0, .dts = 1s}), 1u) << "never nothing";
}

TEST(FragmentWriter, RefusesMoreThanAFragmentHolds) {
    FragmentWriter writer({aac_track()});
    for (std::size_t i = 0; i < FragmentWriter::kSamplesMax; ++i)
        ASSERT_TRUE(writer.push(0, sample_of(std::chrono::milliseconds(23 * i), 1, 1)).ok());
    EXPECT_EQ(writer.push(0, sample_of(1h, 1, 1)).code(), Errc::limit);
    ByteWriter out;
    writer.cut(out);
    EXPECT_EQ(fragment_samples(out.written()).at(1).size(), FragmentWriter::kSamplesMax);
    EXPECT_TRUE(writer.push(0, sample_of(1h, 1, 1)).ok());
    const Sample huge = {.dts = 1h, .pts = 1h, .key = true, .data = Slice::allocate(FragmentWriter::kBytesMax - 1)};
    EXPECT_TRUE(writer.push(0, huge).ok());
    EXPECT_EQ(writer.push(0, sample_of(1h, 1, 1)).code(), Errc::limit);
}

TEST(FragmentWriter, WritesSegmentTypeBox) {
    ByteWriter out;
    write_segment_type(out);
    EXPECT_EQ(read_file(out.written()).children.at(0).type, "styp");
}

// Frames as a transport stream reader returns them, in microseconds of a 90 kHz clock, without another container in between.
TEST(FragmentWriter, WritesFramesOfAnyContainer) {
    SampleReader reader;
    ASSERT_TRUE(reader.push_video(avc_config()).ok());
    ASSERT_TRUE(reader.push_audio(aac_config()).ok());
    FragmentWriter writer({*reader.video(), *reader.audio()});
    constexpr MediaTime kFrame{33'366};  // 3,003 ticks
    for (int i = 0; i < 3; ++i) {
        codec::Frame picture = i == 0 ? frames::key(Codec::avc, hex("00000002 65aa"), 2 * kFrame)
                                      : frames::inter(Codec::avc, hex("00000002 41bb"), kFrame);
        picture.dts = 10s + i * kFrame;
        codec::Frame audio_frame = frames::audio(Codec::aac, hex("210a0b"));
        audio_frame.dts = 10s + i * MediaTime(23'220);
        const auto video = reader.push_video(picture);
        const auto audio = reader.push_audio(audio_frame);
        ASSERT_TRUE(video.ok() && *video && audio.ok() && *audio);
        ASSERT_TRUE(writer.push(0, **video).ok() && writer.push(1, **audio).ok());
    }
    ByteWriter out;
    writer.write_init(out);
    writer.cut(out);
    const TestBox file = read_file(out.written());
    const auto tracks = file.child("moof").all("traf");
    ASSERT_EQ(tracks.size(), 2u);
    const Body& run = tracks[0]->child("trun").content;
    EXPECT_EQ(u32_at(run, 4), 3u) << "pictures";
    const Body& data = file.child("mdat").content;
    EXPECT_EQ(data, hex("00000002 65aa 00000002 41bb 00000002 41bb 210a0b 210a0b 210a0b"));
}

}  // namespace
}  // namespace live::wire::mp4
