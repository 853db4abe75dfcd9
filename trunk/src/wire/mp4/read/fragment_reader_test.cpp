#include "wire/mp4/read/fragment_reader.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/read/recorded_files_fixture.hpp"

namespace live::wire::mp4 {
namespace {

ReadAt reader_of(const FileBytes& file) {
    return [&file](std::uint64_t offset, std::size_t count) { return piece_of(file, offset, count); };
}

TEST(RecordingNote, IsReadBack) {
    ByteWriter out;
    write_recording_note(out, cam_note());
    EXPECT_EQ(MUST(read_recording_note(out.written().subspan(8))), cam_note());
    for (std::size_t size = 0; size + 8 < out.size(); ++size)
        EXPECT_FALSE(read_recording_note(out.written().subspan(8, size)).ok()) << size;
    RecordingNote long_note = cam_note();
    long_note.stream.assign(RecordingNote::kTextBytesMax + 1, 'a');
    ByteWriter cut;
    write_recording_note(cut, long_note);
    EXPECT_EQ(MUST(read_recording_note(cut.written().subspan(8))).stream.size(), RecordingNote::kTextBytesMax);
}

TEST(RecordingNote, OtherBoxesAreNotMistakenForIt) {
    EXPECT_EQ(read_recording_note(FileBytes(100, 1)).code(), Errc::not_found);
    ByteWriter out;
    write_recording_note(out, cam_note());
    FileBytes later(out.written().begin() + 8, out.written().end());
    later[16] = 2;
    EXPECT_EQ(read_recording_note(later).code(), Errc::unsupported);
}

TEST(FragmentReader, HeaderHasTracksAndNote) {
    const FileBytes file = recorded(1);
    const auto header = MUST(read_fragmented_header(file.size(), reader_of(file)));
    ASSERT_TRUE(header.note);
    EXPECT_EQ(*header.note, cam_note());
    EXPECT_TRUE(header.has_fragments);
    ASSERT_EQ(header.tracks.size(), 2u);
    EXPECT_EQ(header.tracks[0].kind, MediaKind::video);
    EXPECT_EQ(header.tracks[0].timescale, 90'000u);
    EXPECT_EQ(header.tracks[0].width, avc_track().width);
    EXPECT_EQ(header.tracks[0].sample_entries.front(), avc_track().sample_entry);
    EXPECT_EQ(header.tracks[1].kind, MediaKind::audio);
    EXPECT_EQ(header.tracks[1].timescale, 44'100u);
}

TEST(FragmentReader, SamplesAreThoseOfTheStrictReader) {
    const FileBytes file = recorded(3, {avc_track(), aac_track()}, 80ms);
    const ReadAt read = reader_of(file);
    const auto header = MUST(read_fragmented_header(file.size(), read));
    FragmentReader reader(header, file.size(), read);
    Fragment fragment;
    std::map<std::uint32_t, std::vector<TestSample>> samples;
    for (std::uint64_t at = header.bytes; at < file.size(); at = fragment.offset + fragment.bytes) {
        MUST(reader.read(at, fragment));
        for (std::size_t i = 0; i < fragment.samples.size(); ++i)
            for (const FragmentSample& sample : fragment.samples[i])
                samples[header.tracks[i].id].push_back({.tick = sample.tick,
                                                        .composition = sample.composition,
                                                        .ticks = sample.ticks,
                                                        .key = sample.key,
                                                        .data = MUST(piece_of(file, sample.offset, sample.bytes))});
    }
    EXPECT_EQ(samples, fragment_samples(file));
    EXPECT_EQ(reader.read(file.size(), fragment).code(), Errc::need_more);
}

// Another writer's forms: defaults in trex, flags of the first sample, version 0 of tfdt, a base offset.
TEST(FragmentReader, DefaultsOfOtherWritersApply) {
    FragmentedHeader header;
    header.tracks.push_back({.id = 7, .timescale = 1'000, .default_ticks = 40, .default_bytes = 5, .default_flags = 0x1'0000});
    const FileBytes file =
        hex("00000054 6d6f6f66"
            "00000010 6d666864 00000000 00000001"
            "0000003c 74726166"
            "00000010 74666864 00020000 00000007"
            "00000010 74666474 00000000 000003e8"
            "00000014 7472756e 00000005 00000002 00000000"
            "00000000"
            "00000012 6d646174 0102030405 060708090a");
    const ReadAt read = reader_of(file);
    FragmentReader reader(header, file.size(), read);
    Fragment fragment;
    // The run is four bytes longer than its box.
    EXPECT_FALSE(reader.read(0, fragment).ok());
    const FileBytes good =
        hex("00000058 6d6f6f66"
            "00000010 6d666864 00000000 00000001"
            "00000040 74726166"
            "00000010 74666864 00020000 00000007"
            "00000010 74666474 00000000 000003e8"
            "00000018 7472756e 00000005 00000002 00000060 02000000"
            "00000012 6d646174 0102030405 060708090a");
    const ReadAt read_good = reader_of(good);
    FragmentReader other(header, good.size(), read_good);
    MUST(other.read(0, fragment));
    ASSERT_EQ(fragment.samples[0].size(), 2u);
    EXPECT_EQ(fragment.samples[0][0],
              (FragmentSample{.tick = 1'000, .ticks = 40, .composition = 0, .bytes = 5, .offset = 96, .key = true}));
    EXPECT_EQ(fragment.samples[0][1],
              (FragmentSample{.tick = 1'040, .ticks = 40, .composition = 0, .bytes = 5, .offset = 101, .key = false}));
}

TEST(FragmentReader, EveryTruncationIsAnError) {
    const FileBytes file = recorded(1);
    const auto whole = MUST(read_fragmented_header(file.size(), reader_of(file)));
    for (std::size_t size = 0; size < file.size(); ++size) {
        const FileBytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
        const ReadAt read = reader_of(cut);
        const auto header = read_fragmented_header(size, read);
        if (size < whole.bytes) {
            EXPECT_FALSE(header.ok()) << size;
            continue;
        }
        if (!header.ok() || !header->has_fragments)
            continue;
        FragmentReader reader(*header, size, read);
        Fragment fragment;
        EXPECT_EQ(reader.read(header->bytes, fragment).code(), Errc::need_more) << size;
    }
}

TEST(FragmentReader, RefusesForeignFiles) {
    const FileBytes zeros(100, 0);
    EXPECT_EQ(read_fragmented_header(100, reader_of(zeros)).code(), Errc::malformed);
    const FileBytes only_type = hex("00000010 66747970 69736f36 00000000 00000008 6d646174");
    EXPECT_FALSE(read_fragmented_header(only_type.size(), reader_of(only_type)).ok());
}

// A run that claims more samples than a fragment may have costs no memory.
TEST(FragmentReader, BoundsSamples) {
    FragmentedHeader header;
    header.tracks.push_back({.id = 7, .timescale = 1'000});
    for (const bool is_above : {false, true}) {
        ByteWriter out;
        out.bytes(
            hex("00000044 6d6f6f66 0000003c 74726166 00000010 74666864 00020000 00000007"
                "00000010 74666474 00000000 00000000 00000014 7472756e 00000001"));
        out.u32be(static_cast<std::uint32_t>(Fragment::kSamplesMax + (is_above ? 1 : 0))).u32be(0x4c);
        out.bytes(hex("00000008 6d646174"));
        const FileBytes file = out.release();
        const ReadAt read = reader_of(file);
        FragmentReader reader(header, file.size(), read);
        Fragment fragment;
        const auto got = reader.read(0, fragment);
        EXPECT_EQ(got.ok(), !is_above);
        if (!got.ok()) {
            EXPECT_EQ(got.code(), Errc::limit);
        }
    }
}

}  // namespace
}  // namespace live::wire::mp4
