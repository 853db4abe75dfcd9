#include "wire/mp4/movie_writer.hpp"

#include <gtest/gtest.h>

#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/media_fixture.hpp"

namespace live::wire::mp4 {
namespace {

using Body = std::vector<std::uint8_t>;

// A file as it would be on disk.
struct File {
    MovieWriter writer;
    Body bytes;

    File() {
        append([this](ByteWriter& out) { writer.begin(out); });
    }
    template <class F>
    void append(F write) {
        ByteWriter out;
        write(out);
        bytes.insert(bytes.end(), out.written().begin(), out.written().end());
    }
    void push(std::size_t track, const Sample& sample) { ASSERT_TRUE(writer.push(track, sample).ok()); }
    void flush() {
        append([this](ByteWriter& out) { writer.flush(out); });
    }
    void finish() {
        flush();
        FilePatch patch;
        append([&](ByteWriter& out) { patch = writer.finish(out); });
        std::copy(patch.bytes.begin(), patch.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(patch.offset));
    }
};

std::uint32_t word_at(const Body& bytes, std::size_t at) { return MUST(ByteReader(Bytes(bytes).subspan(at)).u32be()); }

TEST(MovieWriter, MediaFirstAndTheHeaderLast) {
    File file;
    const auto video = file.writer.add_track(avc_track()).value();
    file.push(video, sample_of(1s, 3, 0xA0, true, 80ms));
    const auto audio = file.writer.add_track(aac_track()).value();
    file.push(audio, sample_of(1s + 500ms, 2, 0xB0));
    file.push(video, sample_of(1s + 40ms, 5, 0xA1, false, 0ms));
    file.flush();
    file.push(video, sample_of(1s + 80ms, 4, 0xA2, false, -40ms));
    file.push(audio, sample_of(1s + 523ms, 6, 0xB1));
    file.push(video, sample_of(1s + 120ms, 4, 0xA3, true, 0ms));
    file.finish();
    const TestBox read = read_file(file.bytes);
    ASSERT_EQ(read.children.size(), 3u);
    EXPECT_EQ(read.children[0].type, "ftyp");
    EXPECT_EQ(read.children[1].type, "mdat");
    const auto tracks = read.child("moov").all("trak");
    ASSERT_EQ(tracks.size(), 2u);
    const std::vector<TestSample> pictures = {{0, 7'200, 3'600, true, Body(3, 0xA0)},
                                              {3'600, 0, 3'600, false, Body(5, 0xA1)},
                                              {7'200, -3'600, 3'600, false, Body(4, 0xA2)},
                                              {10'800, 0, 3'600, true, Body(4, 0xA3)}};
    EXPECT_EQ(movie_samples(file.bytes, *tracks[0]), pictures);
    const std::vector<TestSample> audio_frames = {{0, 0, 1'024, true, Body(2, 0xB0)}, {1'024, 0, 1'024, true, Body(6, 0xB1)}};
    EXPECT_EQ(movie_samples(file.bytes, *tracks[1]), audio_frames);
    EXPECT_EQ(word_at(read.child("moov").child("mvhd").content, 12), 1'000u);
    EXPECT_EQ(word_at(read.child("moov").child("mvhd").content, 16), 546u) << "audio ends last: 500 ms and two frames";
    EXPECT_FALSE(tracks[0]->has("edts"));
    const auto& edits = tracks[1]->child("edts").child("elst").content;
    EXPECT_EQ(edits, hex("00000000 00000002 000001f4 ffffffff 00010000 0000002e 00000000 00010000")) << "audio begins later";
    EXPECT_EQ(file.writer.duration(), 546ms);
}

// Video of 90,000 ticks a second that begins 500 ms after audio, with frames that are presented 80 ms after they are decoded.
TEST(MovieWriter, LateVideoWithReorderedFramesKeepsItsPlace) {
    File file;
    const auto audio = file.writer.add_track(aac_track()).value();
    const auto video = file.writer.add_track(avc_track()).value();
    file.push(audio, sample_of(1s, 2, 0xB0));
    file.push(video, sample_of(1s + 500ms, 3, 0xA0, true, 80ms));
    file.push(video, sample_of(1s + 540ms, 5, 0xA1, false, 160ms));
    file.flush();
    file.finish();
    const TestBox read = read_file(file.bytes);
    const auto tracks = read.child("moov").all("trak");
    ASSERT_EQ(tracks.size(), 2u);
    EXPECT_FALSE(tracks[0]->has("edts"));
    // The empty edit lasts until the first presentation, 580 ms; the next begins there, at 7,200 ticks of the media.
    EXPECT_EQ(tracks[1]->child("edts").child("elst").content,
              hex("00000000 00000002 00000244 ffffffff 00010000 00000050 00001c20 00010000"));
}

TEST(MovieWriter, UnclosedFileIsFragmented) {
    File file;
    const auto video = file.writer.add_track(avc_track()).value();
    const auto audio = file.writer.add_track(aac_track()).value();
    file.push(video, sample_of(1s, 3, 0xA0, true, 80ms));
    file.push(audio, sample_of(1s, 2, 0xB0));
    file.push(video, sample_of(1s + 40ms, 5, 0xA1, false, 0ms));
    file.flush();
    const auto late = file.writer.add_track(aac_track()).value();
    file.push(video, sample_of(1s + 80ms, 4, 0xA2, false, -40ms));
    file.push(late, sample_of(1s + 90ms, 7, 0xC0));
    file.flush();
    const TestBox killed = read_file(file.bytes);
    std::vector<std::string> types;
    for (const TestBox& box : killed.children)
        types.push_back(box.type);
    EXPECT_EQ(types, (std::vector<std::string>{"ftyp", "free", "moov", "moof", "mdat", "moof", "mdat", "mdat"}));
    EXPECT_EQ(killed.child("moov").all("trak").size(), 2u);
    EXPECT_TRUE(killed.child("moov").has("mvex"));
    const auto samples = fragment_samples(file.bytes);
    EXPECT_EQ(samples.at(1).size(), 3u);
    EXPECT_EQ(samples.at(2).size(), 1u);
    EXPECT_EQ(samples.at(1)[2].data, Body(4, 0xA2));
    file.finish();
    const TestBox closed = read_file(file.bytes);
    ASSERT_EQ(closed.children.size(), 3u) << "ftyp, mdat, moov";
    const auto tracks = closed.child("moov").all("trak");
    ASSERT_EQ(tracks.size(), 3u);
    EXPECT_EQ(movie_samples(file.bytes, *tracks[0]).at(2).data, Body(4, 0xA2));
    EXPECT_EQ(movie_samples(file.bytes, *tracks[2]).at(0).data, Body(7, 0xC0));
}

TEST(MovieWriter, AnEvenStreamHasSmallTables) {
    File file;
    const auto audio = file.writer.add_track(aac_track()).value();
    for (int i = 0; i < 10'000; ++i) {
        file.push(audio, sample_of(MediaTime(i * 23'220), 10, 1));
        if (i % 40 == 39)
            file.flush();
    }
    file.finish();
    const TestBox read = read_file(file.bytes);
    const TestBox& track = *read.child("moov").all("trak").at(0);
    EXPECT_EQ(movie_samples(file.bytes, track).size(), 10'000u);
    const TestBox& table = track.child("mdia").child("minf").child("stbl");
    EXPECT_EQ(table.child("stts").content.size(), 8u + 16);
    EXPECT_EQ(table.child("stsc").content.size(), 8u + 12);
    EXPECT_FALSE(table.has("stss")) << "every audio is a key";
    EXPECT_FALSE(table.has("ctts"));
}

TEST(MovieWriter, LongRecordingsHaveLongTimes) {
    File file;
    const auto track = file.writer.add_track(avc_track()).value();
    for (int hour = 0; hour < 24 * 60; ++hour)
        file.push(track, sample_of(std::chrono::hours(hour), 1, 1));
    file.finish();
    const TestBox read = read_file(file.bytes);
    const TestBox& movie = read.child("moov");
    EXPECT_EQ(movie.child("mvhd").content.at(0), 1) << "60 days of milliseconds are more than 32 bits";
    const TestBox& media = movie.all("trak").at(0)->child("mdia");
    TestFull header(media.child("mdhd"));
    EXPECT_EQ(header.version, 1);
    MUST(header.in.skip(16 + 4));
    EXPECT_EQ(MUST(header.in.u64be()), std::uint64_t{24 * 60 * 3'600} * 90'000);
    EXPECT_EQ(movie_samples(file.bytes, *movie.all("trak").at(0)).back().tick, std::uint64_t{(24 * 60 - 1) * 3'600} * 90'000);
}

TEST(SampleTable, OffsetsBeyondFourGigabytesHave64Bits) {
    SampleTable table;
    table.add(0, 0, 10, true);
    table.end_chunk(44);
    table.add(100, 0, 10, true);
    table.end_chunk(std::uint64_t{0xFFFF'FFFF});
    ByteWriter near;
    table.write(near, 100);
    EXPECT_TRUE(read_file(near.written()).has("stco"));
    table.add(200, 0, 10, true);
    table.end_chunk(std::uint64_t{5} << 30);
    ByteWriter far;
    table.write(far, 100);
    const TestBox read = read_file(far.written());
    EXPECT_FALSE(read.has("stco"));
    EXPECT_EQ(read.child("co64").content, hex("00000000 00000003 000000000000002c 00000000ffffffff 0000000140000000"));
}

TEST(MovieWriter, DropsFailedWrites) {
    File file;
    const auto video = file.writer.add_track(avc_track()).value();
    const auto audio = file.writer.add_track(aac_track()).value();
    const auto push_second = [&](int second) {
        for (int i = 0; i < 4; ++i) {
            const MediaTime at = std::chrono::seconds(second) + std::chrono::milliseconds(i * 250);
            file.push(video, sample_of(at, 10, 1, i == 0, std::chrono::milliseconds(40 * (i % 2))));
            file.push(audio, sample_of(at, 5, 2));
        }
    };
    push_second(0);
    file.flush();
    const std::size_t kept = file.bytes.size();
    push_second(1);
    file.flush();
    file.bytes.resize(kept);
    push_second(2);
    file.writer.forget_behind(kept);
    file.finish();
    const TestBox read = read_file(file.bytes);
    EXPECT_EQ(read.child("mdat").content.size(), kept - 28 - 16) << "what is kept, but for ftyp and the head";
    const auto tracks = read.child("moov").all("trak");
    for (const TestBox* track : tracks) {
        const auto samples = movie_samples(file.bytes, *track);
        ASSERT_EQ(samples.size(), 4u);
        EXPECT_EQ(samples[3].tick + samples[3].ticks, track == tracks[0] ? 90'000u : samples[3].tick + 1'024);
        EXPECT_FALSE(samples[3].data.empty());
    }
    const auto pictures = movie_samples(file.bytes, *tracks[0]);
    EXPECT_TRUE(pictures[0].key && !pictures[1].key);
    EXPECT_EQ(pictures[1].composition, 3'600);
    // Only the start was written: no track is left.
    File none;
    const auto only = none.writer.add_track(aac_track()).value();
    none.push(only, sample_of(0ms, 5, 2));
    const std::size_t head = none.bytes.size();
    none.flush();
    none.bytes.resize(head);
    none.writer.forget_behind(head);
    none.finish();
    EXPECT_TRUE(read_file(none.bytes).child("moov").all("trak").empty());
}

TEST(MovieWriter, ATrackWithoutSamplesIsLeftOut) {
    File file;
    ASSERT_TRUE(file.writer.add_track(avc_track()).ok());
    const auto audio = file.writer.add_track(aac_track()).value();
    file.push(audio, sample_of(0ms, 1, 1));
    file.finish();
    EXPECT_EQ(read_file(file.bytes).child("moov").all("trak").size(), 1u);
    EXPECT_EQ(file.writer.samples(), 1u);
    MovieWriter writer;
    for (std::size_t i = 0; i < MovieWriter::kTracksMax; ++i)
        ASSERT_TRUE(writer.add_track(aac_track()).ok());
    EXPECT_EQ(writer.add_track(aac_track()).code(), Errc::limit);
}

TEST(MovieWriter, HoldsABoundedNumberOfSamples) {
    File file;
    const auto audio = file.writer.add_track(aac_track()).value();
    for (std::size_t i = 0; i < MovieWriter::kHeldSamplesMax; ++i)
        file.push(audio, sample_of(std::chrono::milliseconds(i * 23), 1, 1));
    EXPECT_EQ(file.writer.push(audio, sample_of(1h, 1, 1)).code(), Errc::limit);
    file.flush();
    EXPECT_TRUE(file.writer.push(audio, sample_of(1h, 1, 1)).ok());
}

}  // namespace
}  // namespace live::wire::mp4
