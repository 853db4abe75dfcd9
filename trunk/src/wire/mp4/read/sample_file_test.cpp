#include "wire/mp4/read/sample_file.hpp"

#include <gtest/gtest.h>

#include "wire/flv/audio_tag.hpp"
#include "wire/flv/file_writer.hpp"
#include "wire/flv/video_tag.hpp"
#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/movie_writer.hpp"
#include "wire/mp4/read/flv_samples.hpp"
#include "wire/mp4/read/movie_samples.hpp"
#include "wire/mp4/read/recorded_files_fixture.hpp"

namespace live::wire::mp4 {
namespace {

using Files = std::vector<std::pair<MediaTime, FileBytes>>;

// The recordings of recorded_files_fixture.hpp in other containers.
class FlvFile {
public:
    FlvFile() : writer_({}, "test", out_) {}

    void video(MediaTime dts, Bytes body, bool key, MediaTime cts = {}, flv::PacketKind kind = flv::PacketKind::frames) {
        flv::VideoTag tag;
        tag.codec = codec::Codec::avc;
        tag.kind = kind;
        tag.key = key;
        tag.composition = std::chrono::duration_cast<std::chrono::milliseconds>(cts);
        tag.body = body;
        ByteWriter made;
        flv::write_video_tag(made, tag);
        write(flv::TagType::video, dts, made.written(),
              key && kind == flv::PacketKind::frames ? flv::FileWriter::Index::yes : flv::FileWriter::Index::no);
    }
    void audio(MediaTime dts, Bytes body, flv::PacketKind kind = flv::PacketKind::frames) {
        flv::AudioTag tag;
        tag.codec = codec::Codec::aac;
        tag.kind = kind;
        tag.body = body;
        ByteWriter made;
        flv::write_audio_tag(made, tag);
        write(flv::TagType::audio, dts, made.written());
    }
    void script(MediaTime at, Bytes body) { write(flv::TagType::script, at, body); }
    void avc_record(MediaTime at, std::size_t vector = 0) {
        video(at, codec::avc_vectors()[vector].record, true, {}, flv::PacketKind::sequence_header);
    }
    FileBytes release() { return out_.release(); }
    // With its index.
    FileBytes close() {
        const FilePatch patch = writer_.finish();
        FileBytes bytes = out_.release();
        copy_bytes(patch.bytes, MutBytes(bytes).subspan(static_cast<std::size_t>(patch.offset)));
        return bytes;
    }

private:
    void write(flv::TagType type, MediaTime dts, Bytes body, flv::FileWriter::Index index = flv::FileWriter::Index::no) {
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(dts).count();
        writer_.write(type, static_cast<std::uint32_t>(ms), body, index, out_);
    }

    ByteWriter out_;
    flv::FileWriter writer_;
};

struct Frame {
    std::size_t track = 0;
    Sample sample;
};

// As recorded() makes them.
std::vector<Frame> frames_of(int seconds, MediaTime composition = {}) {
    std::vector<Frame> frames;
    int audio = 0;
    for (int frame = 0; frame < seconds * 25; ++frame) {
        const auto fill = static_cast<std::uint8_t>(frame % 128);
        const auto cts = frame % 25 % 2 == 0 ? composition : MediaTime();
        frames.push_back({0, sample_of(frame * 40ms, 100 + static_cast<std::size_t>(frame % 25), fill, frame % 50 == 0, cts)});
        for (; audio * 1'024LL * 1'000 / 44'100 < (frame + 1) * 40; ++audio)
            frames.push_back(
                {1, sample_of(MediaTime(audio * 1'024'000'000LL / 44'100), 20, static_cast<std::uint8_t>(128 + audio % 128))});
    }
    return frames;
}

FlvFile flv_frames(int seconds, MediaTime composition = {}) {
    FlvFile file;
    file.avc_record(0ms);
    file.audio(0ms, hex("1210"), flv::PacketKind::sequence_header);
    for (const auto& [track, sample] : frames_of(seconds, composition))
        if (track == 0)
            file.video(sample.dts, sample.data.bytes(), sample.key, sample.pts - sample.dts);
        else
            file.audio(sample.dts, sample.data.bytes());
    return file;
}

FileBytes flv_file(int seconds, MediaTime composition = {}) { return flv_frames(seconds, composition).release(); }

// `late`: the audio begins after the first flush.
FileBytes movie_file(int seconds, MediaTime composition = {}, MediaTime late = {}) {
    ByteWriter out;
    MovieWriter writer;
    writer.begin(out);
    MUST(writer.add_track(avc_track()));
    std::optional<std::size_t> audio;
    for (const auto& [track, sample] : frames_of(seconds, composition)) {
        if (track == 1 && sample.dts < late)
            continue;
        if (track == 0 && sample.dts % 1s == 0ms)
            writer.flush(out);
        if (track == 1 && !audio)
            audio = MUST(writer.add_track(aac_track()));
        MUST(writer.push(track == 0 ? 0 : *audio, sample));
    }
    writer.flush(out);
    const FilePatch patch = writer.finish(out);
    FileBytes bytes = out.release();
    copy_bytes(patch.bytes, MutBytes(bytes).subspan(static_cast<std::size_t>(patch.offset)));
    return bytes;
}

// The samples of both tracks of an excerpt as a movie.
std::vector<std::vector<TestSample>> samples_of(const Files& files, MediaTime duration, std::size_t held = 8'192) {
    const FileBytes movie = movie_excerpt(files, duration, 1'000, held);
    const TestBox file = read_file(movie);
    std::vector<std::vector<TestSample>> samples;
    for (const TestBox* track : file.child("moov").all("trak"))
        samples.push_back(movie_samples(movie, *track));
    return samples;
}

// FLV has milliseconds: one audio frame more may touch the span at each end.
void trim_audio(std::vector<TestSample>& got, const std::vector<TestSample>& wanted) {
    if (got.size() > wanted.size() && got.front().data != wanted.front().data)
        got.erase(got.begin());
    if (got.size() == wanted.size() + 1)
        got.pop_back();
}

void expect_same(std::vector<std::vector<TestSample>> got, const std::vector<std::vector<TestSample>>& wanted,
                 const std::string& name) {
    if (got.size() == 2 && wanted.size() == 2)
        trim_audio(got[1], wanted[1]);
    ASSERT_EQ(got.size(), wanted.size()) << name;
    for (std::size_t track = 0; track < got.size(); ++track) {
        ASSERT_EQ(got[track].size(), wanted[track].size()) << name << ", track " << track;
        for (std::size_t i = 0; i < got[track].size(); ++i) {
            ASSERT_EQ(got[track][i].data, wanted[track][i].data) << name << ", sample " << i;
            ASSERT_EQ(got[track][i].key, wanted[track][i].key) << name << ", sample " << i;
            ASSERT_EQ(got[track][i].composition, wanted[track][i].composition) << name << ", sample " << i;
            // FLV has milliseconds: 44 ticks of sound.
            const auto off = static_cast<std::int64_t>(got[track][i].tick) - static_cast<std::int64_t>(wanted[track][i].tick);
            ASSERT_LE(std::abs(off), track == 0 ? 0 : 45) << name << ", sample " << i;
        }
    }
}

TEST(SampleFile, ExcerptsHaveTheSamplesOfFragmentedRecordings) {
    for (const MediaTime composition : {0ms, 40ms}) {
        const FileBytes fragmented = recorded(10, {avc_track(), aac_track()}, composition);
        for (const auto& [name, bytes] : {std::pair("flv", flv_file(10, composition)), {"mp4", movie_file(10, composition)}})
            for (const MediaTime offset : {0ms, 1'000ms, 3'400ms, 5'020ms, 8'960ms})
                for (const MediaTime duration : {40ms, 2'200ms, 20'000ms})
                    expect_same(samples_of({{-offset, bytes}}, duration, duration > 2s ? 0 : 8'192),
                                samples_of({{-offset, fragmented}}, duration), name + std::to_string(offset.count()));
    }
}

TEST(SampleFile, FragmentsAndMoviesAgree) {
    for (const FileBytes& bytes : {flv_file(10, 40ms), movie_file(10, 40ms)}) {
        const Files files = {{-3'400ms, bytes}};
        const auto fragments = fragment_samples(fragmented_excerpt(files, 2s));
        const auto movie = samples_of(files, 2s);
        ASSERT_EQ(fragments.at(1).size(), movie[0].size());
        for (std::size_t i = 0; i < movie[0].size(); ++i)
            ASSERT_EQ(fragments.at(1)[i].data, movie[0][i].data);
        EXPECT_EQ(fragments.at(2).size(), movie[1].size());
    }
}

TEST(FlvSamples, ScriptDataAreEvents) {
    FlvFile file;
    file.avc_record(0ms);
    for (int frame = 0; frame < 10 * 25; ++frame) {
        if (frame % 50 == 30)
            file.script(frame * 40ms, hex("02 0001 61"));
        file.video(frame * 40ms, FileBytes(2'000, 7), frame % 25 == 0);
    }
    const FileBytes bytes = file.release();
    std::vector<MediaTime> seen;
    // Those at 1.2 s, 3.2 s, ..., and the metadata at zero.
    const auto read_script = [&seen](Bytes script, MediaTime at) -> std::vector<EventMessage> {
        if (script.size() != 4)
            return {};
        seen.push_back(at);
        return {event_at(kId3Scheme, at, script)};
    };
    const ReadFile read = [&bytes](std::size_t, std::uint64_t offset, std::size_t count) {
        return piece_of(bytes, offset, count);
    };
    auto fragments =
        MUST(ExcerptFragments::create(MUST(Excerpt::create({{.size = bytes.size(), .start = -2s}}, read, 6s, read_script))));
    ByteWriter out;
    for (std::vector<FileRange> ranges; MUST(fragments.next(out, ranges));)
        append_ranges(out, {{-2s, bytes}}, ranges);
    EXPECT_EQ(seen, (std::vector<MediaTime>{3'200ms, 5'200ms, 7'200ms}));
    const auto events = events_in(out.written());
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(time_of(events[0]), 1'200ms);
    EXPECT_EQ(events[2].data, hex("02 0001 61"));
}

// An index saves the way from tag to tag, and changes nothing else.
TEST(FlvSamples, IndexSavesReads) {
    FlvFile file = flv_frames(120);
    file.avc_record(120s, 1);
    file.video(120s, FileBytes(9, 1), true);
    FlvFile same = flv_frames(120);
    same.avc_record(120s, 1);
    same.video(120s, FileBytes(9, 1), true);
    const FileBytes indexed = file.close();
    const FileBytes plain = same.release();
    const auto reads_of = [](const FileBytes& bytes, MediaTime start, MediaTime duration) {
        std::size_t read_bytes = 0;
        const ReadFile read = [&](std::size_t, std::uint64_t offset, std::size_t count) {
            read_bytes += count;
            return piece_of(bytes, offset, count);
        };
        static_cast<void>(MUST(Excerpt::create({{.size = bytes.size(), .start = -start}}, read, duration)));
        return read_bytes;
    };
    for (const MediaTime start : {0s, 3s, 60s, 119s, 120s})
        EXPECT_EQ(fragmented_excerpt({{-start, indexed}}, 200s), fragmented_excerpt({{-start, plain}}, 200s)) << start.count();
    EXPECT_LT(reads_of(indexed, 0s, 200s) * 5, reads_of(plain, 0s, 200s));
    EXPECT_LT(reads_of(indexed, 100s, 10s) * 3, reads_of(plain, 100s, 10s));
    // One that is wrong is not used.
    for (const int wrong : {1, 2}) {
        FileBytes bytes = indexed;
        const std::string_view key = wrong == 1 ? "formatpositions" : "filepositions";
        const std::size_t at = as_text(Bytes(bytes)).find(key) + key.size();
        for (std::size_t i = 0; i < 30; ++i)
            bytes[at + 8 + i * 9] ^= i < 3 || wrong == 2 ? 0x10 : 0;
        EXPECT_EQ(fragment_samples(fragmented_excerpt({{-60s, bytes}}, 200s)),
                  fragment_samples(fragmented_excerpt({{-60s, plain}}, 200s)))
            << wrong;
    }
}

// One part of the file is the media of a fragment, with the heads of the tags in it.
TEST(FlvSamples, FragmentsHaveFewPartsOfTheFile) {
    const auto [fragments, ranges] = fragments_and_ranges({{0s, flv_file(10)}}, 10s);
    EXPECT_EQ(ranges, fragments);
    EXPECT_LE(fragments, 10u);
}

TEST(SampleFile, RecordingsOfAllContainersFollowEachOther) {
    const Files files = {{0s, flv_file(4)}, {4s, movie_file(4)}, {8s, recorded(4)}, {13s, flv_file(4)}};
    const auto samples = samples_of(files, 16s);
    ASSERT_EQ(samples[0].size(), 375u);
    for (std::size_t i = 0; i < 375; ++i)
        ASSERT_EQ(samples[0][i].tick, (i < 300 ? i * 40 : i * 40 + 1'000) * 90) << i;
    EXPECT_EQ(samples[0][374].data, FileBytes(124, 74));
}

TEST(SampleFile, TrackThatBeginsLaterInAMovieKeepsItsTime) {
    const auto samples = samples_of({{0s, movie_file(6, {}, 2'500ms)}}, 6s);
    ASSERT_EQ(samples.size(), 2u);
    const auto all = samples_of({{0s, recorded(6)}}, 6s);
    // The first frame at 2.5 s or later.
    const std::size_t first = all[1].size() - samples[1].size();
    EXPECT_EQ(first, 108u);
    EXPECT_EQ(samples[1].front().data, all[1][first].data);
    const FileBytes movie = movie_excerpt({{0s, movie_file(6, {}, 2'500ms)}}, 6s);
    const TestBox file = read_file(movie);
    TestFull edits(file.child("moov").all("trak").at(1)->child("edts").child("elst"));
    MUST(edits.in.u32be());
    EXPECT_NEAR(MUST(edits.in.u32be()), 2'507, 1);
}

TEST(FlvSamples, AnotherConfigurationIsAnotherSampleEntry) {
    FlvFile file;
    for (int second = 0; second < 4; ++second) {
        if (second % 2 == 0)
            file.avc_record(second * 1'000ms, second == 0 ? 0 : 1);
        for (int i = 0; i < 25; ++i)
            file.video(second * 1'000ms + i * 40ms, FileBytes(9, static_cast<std::uint8_t>(second)), i == 0);
    }
    const FileBytes bytes = file.release();
    const ReadAt read = [&bytes](std::uint64_t offset, std::size_t count) { return piece_of(bytes, offset, count); };
    FlvSamples samples(bytes.size());
    while (!MUST(samples.prepare({0s, 10s}, read))) {
    }
    ASSERT_EQ(samples.header().tracks.size(), 1u);
    EXPECT_EQ(samples.header().tracks[0].sample_entries.size(), 2u);
    Fragment fragment;
    std::vector<std::uint32_t> entries;
    std::size_t frames = 0;
    std::uint64_t at = samples.header().bytes;
    for (; samples.read(at, read, fragment).ok(); at = fragment.offset + fragment.bytes) {
        frames += fragment.samples[0].size();
        for (const FragmentSample& sample : fragment.samples[0])
            EXPECT_EQ(bytes.at(static_cast<std::size_t>(sample.offset)) / 2, fragment.entries[0]);
    }
    EXPECT_EQ(at, bytes.size());
    EXPECT_EQ(frames, 100u);
}

TEST(FlvSamples, MoreConfigurationsThanTheListHasEndTheFile) {
    FlvFile file;
    for (int i = 0; i < 200; ++i) {
        file.avc_record(i * 40ms, static_cast<std::size_t>(i % 2));
        file.video(i * 40ms, FileBytes(9, 1), true);
    }
    const auto samples = samples_of({{0s, file.release()}}, 100s);
    EXPECT_EQ(samples.at(0).size(), FlvSamples::kFormatsMax - 1);
}

// Small tags are read in blocks, of large ones the beginning only.
TEST(FlvSamples, LateSecondOfHoursIsFoundByFewReads) {
    for (const std::size_t frame_bytes : {20u, 20'000u}) {
        const int seconds = frame_bytes < 100 ? 3'600 : 60;
        FlvFile file;
        file.avc_record(0ms, 0);
        for (int i = 0; i < seconds * 25; ++i)
            file.video(i * 40ms, FileBytes(frame_bytes, static_cast<std::uint8_t>(i / 25)), i % 50 == 0);
        const FileBytes bytes = file.release();
        std::size_t reads = 0;
        std::uint64_t read_bytes = 0;
        const auto read = [&](std::size_t, std::uint64_t offset, std::size_t count) {
            ++reads;
            read_bytes += count;
            return piece_of(bytes, offset, count);
        };
        const MediaTime late = std::chrono::seconds(seconds - 8) + 500ms;
        Excerpt excerpt = MUST(Excerpt::create({{bytes.size(), -late}}, read, 2s));
        ExcerptPiece piece;
        auto cursor = excerpt.begin();
        ASSERT_TRUE(MUST(excerpt.next(cursor, piece)));
        ASSERT_FALSE(piece.tracks.at(0).samples.empty());
        const ExcerptSample& first = piece.tracks[0].samples.front();
        EXPECT_TRUE(first.key);
        EXPECT_EQ(first.tick, -500 * 90) << "the key frame before";
        EXPECT_EQ(bytes.at(static_cast<std::size_t>(first.offset)), static_cast<std::uint8_t>(seconds - 8));
        EXPECT_LT(reads, frame_bytes < 100 ? 90u : 2'600u);
        EXPECT_LT(read_bytes, frame_bytes < 100 ? bytes.size() * 5 / 4 : bytes.size() / 4);
    }
}

// Every prefix of a file either plays or is refused, and what it plays lies in it.
TEST(SampleFile, TruncatedFilesPlayUpToTheirEnd) {
    for (const auto& [name, whole] : {std::pair("flv", flv_file(2)), {"mp4", movie_file(1)}}) {
        std::size_t most = 0;
        for (std::size_t size = 0; size <= whole.size(); size += size < 600 || size + 900 > whole.size() ? 3 : 401) {
            const Files files = {{0s, FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))}};
            auto excerpt = excerpt_of(files, 2s);
            if (!excerpt.ok())
                continue;
            ExcerptPiece piece;
            std::size_t samples = 0;
            for (auto cursor = excerpt->begin(); MUST(excerpt->next(cursor, piece));)
                for (const auto& track : piece.tracks)
                    for (const ExcerptSample& sample : track.samples) {
                        ASSERT_LE(sample.offset + sample.bytes, size);
                        ++samples;
                    }
            ASSERT_GE(samples, most);
            most = samples;
        }
        EXPECT_GT(most, 60u) << name;
    }
}

// The walks of ten hours read the index in blocks, and begin at a place that was noted.
TEST(MovieSamples, LateSecondIsReachedFromAPlaceThatWasNoted) {
    ByteWriter out;
    MovieWriter writer;
    writer.begin(out);
    MUST(writer.add_track(avc_track()));
    for (int second = 0; second < 3'000; ++second) {
        MUST(writer.push(0, sample_of(second * 1'000ms, 1, static_cast<std::uint8_t>(second), true)));
        if (second % 100 == 99)
            writer.flush(out);
    }
    const FilePatch patch = writer.finish(out);
    FileBytes bytes = out.release();
    copy_bytes(patch.bytes, MutBytes(bytes).subspan(static_cast<std::size_t>(patch.offset)));
    std::size_t reads = 0;
    const ReadAt read = [&](std::uint64_t offset, std::size_t count) {
        ++reads;
        return piece_of(bytes, offset, count);
    };
    MovieSamples samples(bytes.size());
    ASSERT_TRUE(MUST(samples.prepare({0s, 0s}, read)));
    Fragment fragment;
    for (std::uint64_t at = 1; samples.read(at, read, fragment).ok(); at = fragment.offset + fragment.bytes)
        ASSERT_EQ(fragment.samples[0].size(), 1u);
    EXPECT_LT(reads, 100u);
    reads = 0;
    for (const std::uint64_t second : {2'900u, 10u, 2'901u, 0u, 2'999u}) {
        ASSERT_TRUE(samples.read(second + 1, read, fragment).ok());
        ASSERT_EQ(fragment.samples[0].size(), 1u);
        EXPECT_EQ(fragment.samples[0][0].tick, second * 90'000);
        EXPECT_EQ(bytes.at(static_cast<std::size_t>(fragment.samples[0][0].offset)), static_cast<std::uint8_t>(second));
    }
    EXPECT_LT(reads, 40u);
    samples.release();
    ASSERT_TRUE(samples.read(5, read, fragment).ok());
    EXPECT_EQ(fragment.samples[0][0].tick, 4u * 90'000);
}

}  // namespace
}  // namespace live::wire::mp4
