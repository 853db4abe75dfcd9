#include "wire/mp4/read/excerpt.hpp"

#include <map>

#include <gtest/gtest.h>

#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/read/recorded_files_fixture.hpp"

namespace live::wire::mp4 {
namespace {

using Files = std::vector<std::pair<MediaTime, FileBytes>>;

// The first edit: its media time, or -1 for an empty one; nullopt without a list.
std::optional<std::int64_t> first_edit(const TestBox& track) {
    if (!track.has("edts"))
        return std::nullopt;
    const TestBox edits = track.child("edts");
    TestFull list(edits.child("elst"));
    MUST(list.in.u32be());
    MUST(list.in.u32be());
    return static_cast<std::int32_t>(MUST(list.in.u32be()));
}

TEST(Excerpt, BeginsWithTheKeyFrameBeforeTheAskedTime) {
    const Files files = {{-3'400ms, recorded(10)}};
    const FileBytes fragments = fragmented_excerpt(files, 2s);
    const auto samples = fragment_samples(fragments);
    // The key frame is number 50, at 2 s; shown from 3.4 s on, to 5.4 s.
    ASSERT_EQ(samples.at(1).size(), 85u);
    EXPECT_EQ(samples.at(1).front().data.front(), 50);
    EXPECT_TRUE(samples.at(1).front().key);
    EXPECT_EQ(samples.at(1).front().tick, 0u);
    EXPECT_EQ(samples.at(1).back().data.front(), (50 + 84) % 128);
    const TestBox file = read_file(fragments);
    const auto tracks = file.child("moov").all("trak");
    // 35 frames for decoding only, then those from 3.4 s on.
    EXPECT_EQ(first_edit(*tracks[0]), 35);
    EXPECT_EQ(samples.at(1)[34].tick, 34u);
    EXPECT_EQ(samples.at(1)[35].tick, 35u);
    EXPECT_EQ(samples.at(1)[35].data.front(), 85);
    EXPECT_EQ(samples.at(1)[36].tick, 35u + 40 * 90);
    // The audio frame that runs at 3.4 s began 18 ms before.
    EXPECT_EQ(first_edit(*tracks[1]), 3'400 * 44'100 / 1'000 - 146 * 1'024);
    EXPECT_EQ(samples.at(2).front().data.front(), 128 + 146 % 128);
}

TEST(Excerpt, LinesOfSubtitlesLastAsLongAsTheyAreShown) {
    FileBytes file = recorded(10);
    for (const auto& [at, duration] : {std::pair<MediaTime, MediaTime>(4'000ms, 2s), {5s, 3s}, {3'500ms, 400ms}}) {
        ByteWriter box;
        EventMessage cue = cue_at(at, duration, "en", hex("41"));
        cue.timescale = 1'000;
        cue.time = static_cast<std::uint64_t>(at / 1ms);
        cue.duration = static_cast<std::uint32_t>(duration / 1ms);
        write_event_message(box, cue);
        file = with_bytes(std::move(file), 4, box.written());
    }
    // Without the third one, which is over.
    const auto events = events_in(fragmented_excerpt({{-4'400ms, file}}, 4s));
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].value, "en");
    EXPECT_EQ(duration_of(events[0]), 1'600ms) << "it has begun before";
    EXPECT_EQ(duration_of(events[1]), 3s);
    EXPECT_NEAR(static_cast<double>((time_of(events[1]) - time_of(events[0])).count()), 600'000, 20);
}

TEST(Excerpt, EventsKeepTheirFrames) {
    // The one at 5 s is announced a second before, in front of the fragment of second 4.
    FileBytes file = recorded(10);
    for (const auto& [fragment, at] : {std::pair<std::size_t, MediaTime>(4, 5s), {5, 5'200ms}, {9, 9'500ms}, {0, 100ms}})
        file = with_event(file, fragment, kSpliceScheme, at, hex("fc3000"));
    const Files files = {{-3'400ms, file}, {6'600ms, with_event(recorded(3), 0, kId3Scheme, 400ms, hex("494433"))}};
    const FileBytes excerpt = fragmented_excerpt(files, 8s);
    EXPECT_EQ(fragment_samples(excerpt),
              fragment_samples(fragmented_excerpt({{-3'400ms, recorded(10)}, {6'600ms, recorded(3)}}, 8s)));
    const auto events = events_in(excerpt);
    ASSERT_EQ(events.size(), 4u);
    // Media time zero is 35 ticks of frames for decoding before 3.4 s.
    constexpr double hidden = 35;
    EXPECT_NEAR(static_cast<double>(events[0].time), hidden + 1'600 * 90, 1) << "5 s";
    EXPECT_NEAR(static_cast<double>(events[1].time), hidden + 1'800 * 90, 1) << "5.2 s";
    EXPECT_NEAR(static_cast<double>(events[2].time), hidden + 6'100 * 90, 1) << "9.5 s";
    EXPECT_NEAR(static_cast<double>(events[3].time), hidden + 7'000 * 90, 1) << "of the second file";
    EXPECT_EQ(events[3].scheme, kId3Scheme);
    EXPECT_EQ(events[0].data, hex("fc3000"));
    // An event before the first frame's fragment, in a span that begins there.
    EXPECT_EQ(events_in(fragmented_excerpt({{0s, file}}, 1s)).size(), 1u);
    EXPECT_EQ(events_in(fragmented_excerpt({{-5s, file}}, 1s)).size(), 2u);
    // As a movie, the same span has no place for them, and the same samples.
    EXPECT_EQ(movie_excerpt(files, 8s).size(), movie_excerpt(files, 8s, 10, 0).size());
}

TEST(Excerpt, ShortFragmentsAreJoined) {
    using Counts = std::pair<std::size_t, std::size_t>;
    const FileBytes file = recorded(25);
    const auto whole = fragment_samples(file);
    EXPECT_EQ(fragments_and_ranges({{0s, file}}, 25s), Counts(3, 3)) << "of 10 s each";
    EXPECT_TRUE(fragment_samples(fragmented_excerpt({{0s, file}}, 25s)) == whole);
    // Another file, a gap, and other boxes between begin fragments.
    EXPECT_EQ(fragments_and_ranges({{0s, recorded(3)}, {3s, recorded(3)}}, 25s), Counts(2, 2));
    ByteWriter box;
    box.u32be(64'008).text("free").bytes(FileBytes(64'000));
    const FileBytes with_gap = with_bytes(file, 3, box.written());
    EXPECT_EQ(fragments_and_ranges({{0s, with_gap}}, 25s), Counts(4, 4));
    EXPECT_TRUE(fragment_samples(fragmented_excerpt({{0s, with_gap}}, 25s)) == whole);
    // Key frames within a run, and frames for decoding only.
    const FileBytes keys = recorded(12, {avc_track(), aac_track()}, {}, 10);
    EXPECT_TRUE(fragment_samples(fragmented_excerpt({{0s, keys}}, 25s)) == fragment_samples(keys));
    const auto cut = fragment_samples(fragmented_excerpt({{-3'300ms, keys}}, 25s)).at(1);
    ASSERT_EQ(cut.size(), 300u - 80);
    EXPECT_EQ(cut[2].tick, 2u);
    EXPECT_EQ(cut[4].tick, 3u + 60 * 90);
    EXPECT_TRUE(cut[0].key && !cut[1].key && cut[10].key);
}

// The frames that are shown from the asked time on, by number and time in ticks.
std::map<std::int64_t, int> shown_frames(const std::vector<TestSample>& samples, std::int64_t edit) {
    std::map<std::int64_t, int> shown;
    for (const TestSample& sample : samples)
        if (const std::int64_t at = static_cast<std::int64_t>(sample.tick) + sample.composition - edit; at >= 0)
            shown[at] = sample.data.front();
    return shown;
}

TEST(Excerpt, SpanOfReorderedFramesHasThoseThatAreShownInIt) {
    for (const auto& [offset, count] : {std::pair(0, 50), {1, 50}, {5, 10}, {24, 30}, {49, 51}, {50, 25}, {52, 1}, {3, 140}}) {
        const Files files = {{-offset * 40ms, reordered(6)}};
        const FileBytes fragments = fragmented_excerpt(files, count * 40ms);
        const TestBox file = read_file(fragments);
        const auto shown =
            shown_frames(fragment_samples(fragments).at(1), first_edit(*file.child("moov").all("trak")[0]).value_or(0));
        const FileBytes movie = movie_excerpt(files, count * 40ms);
        const TestBox movie_file = read_file(movie);
        const TestBox& track = *movie_file.child("moov").all("trak")[0];
        const auto in_movie = shown_frames(movie_samples(movie, track), first_edit(track).value_or(0));
        for (const auto& [name, all] : {std::pair("fragments", shown), std::pair("movie", in_movie)}) {
            for (int i = 0; i < count; ++i) {
                ASSERT_TRUE(all.contains(i * 3'600)) << name << " from " << offset << ", frame " << i;
                EXPECT_EQ(all.at(i * 3'600), (offset + i) % 128) << name << " from " << offset;
            }
            // One frame may be there because others before it need it.
            EXPECT_LE(all.size(), static_cast<std::size_t>(count) + 1) << name << " from " << offset;
        }
    }
}

TEST(Excerpt, SpanThatEndsWithAGroupHasNoFrameMore) {
    const Files files = {{0s, reordered(6)}};
    for (const int seconds : {2, 4, 6}) {
        const auto samples = fragment_samples(fragmented_excerpt(files, seconds * 1'000ms)).at(1);
        EXPECT_EQ(samples.size(), static_cast<std::size_t>(seconds) * 25);
    }
}

TEST(Excerpt, MovieHasTheSameSamples) {
    const Files files = {{-3'400ms, recorded(10, {avc_track(), aac_track()}, 40ms)}};
    const auto fragments = fragment_samples(fragmented_excerpt(files, 2s));
    for (const std::size_t portion : {1u, 100u, 1'000'000u}) {
        const FileBytes movie = movie_excerpt(files, 2s, portion);
        EXPECT_EQ(movie_excerpt(files, 2s, portion, 0), movie) << "the samples are read again for each table";
        const TestBox file = read_file(movie);
        const auto tracks = file.child("moov").all("trak");
        ASSERT_EQ(tracks.size(), 2u);
        EXPECT_EQ(movie_samples(movie, *tracks[1]), fragments.at(2));
        const auto video = movie_samples(movie, *tracks[0]);
        ASSERT_EQ(video.size(), fragments.at(1).size());
        for (std::size_t i = 0; i < video.size(); ++i) {
            EXPECT_EQ(video[i].tick, i * 40 * 90) << i;
            EXPECT_EQ(video[i].data, fragments.at(1)[i].data) << i;
            EXPECT_EQ(video[i].key, fragments.at(1)[i].key) << i;
            EXPECT_EQ(video[i].composition, (i % 25) % 2 == 0 ? 40 * 90 : 0) << i;
        }
        // The first frame is shown 40 ms after it is decoded.
        EXPECT_EQ(first_edit(*tracks[0]), 1'440 * 90);
    }
}

TEST(Excerpt, RunsAcrossFilesAndGaps) {
    // The second file continues the first one; the third comes after a gap of 5 s.
    const Files files = {{0s, recorded(4)}, {4s, recorded(4)}, {13s, recorded(4)}};
    const FileBytes fragments = fragmented_excerpt(files, 15s);
    const auto video = fragment_samples(fragments).at(1);
    ASSERT_EQ(video.size(), 250u);
    for (std::size_t i = 0; i < 250; ++i)
        ASSERT_EQ(video[i].tick, (i < 200 ? i * 40 : i * 40 + 5'000) * 90) << i;
    const FileBytes movie = movie_excerpt(files, 15s);
    for (const std::size_t held : {0u, 30u, 400u})
        EXPECT_EQ(movie_excerpt(files, 15s, 1'000, held), movie) << held;
    const TestBox file = read_file(movie);
    const auto in_movie = movie_samples(movie, *file.child("moov").all("trak")[0]);
    ASSERT_EQ(in_movie.size(), 250u);
    EXPECT_EQ(in_movie[200].tick, video[200].tick);
    EXPECT_EQ(in_movie[200].data, video[200].data);
    EXPECT_EQ(in_movie[199].ticks, 5'040u * 90);
}

TEST(Excerpt, FilesThatOverlapFollowEachOther) {
    const Files files = {{0s, recorded(4)}, {3'700ms, recorded(4)}};
    const auto video = fragment_samples(fragmented_excerpt(files, 60s)).at(1);
    ASSERT_EQ(video.size(), 200u);
    for (std::size_t i = 1; i < video.size(); ++i)
        EXPECT_GT(video[i].tick, video[i - 1].tick) << i;
    EXPECT_LT(video[100].tick, 4'040u * 90);
}

TEST(Excerpt, CodecsMayChangeBetweenFiles) {
    TrackFormat other = avc_track();
    other.sample_entry.back() ^= 1;
    const Files files = {{0s, recorded(2)}, {2s, recorded(2, {other, aac_track()})}, {4s, recorded(2)}};
    const FileBytes movie = movie_excerpt(files, 6s);
    const TestBox file = read_file(movie);
    const TestBox& table = file.child("moov").all("trak")[0]->child("mdia").child("minf").child("stbl");
    EXPECT_EQ(MUST(TestFull(table.child("stsd")).in.u32be()), 2u);
    TestFull chunks(table.child("stsc"));
    std::vector<std::uint32_t> entries;
    for (auto left = MUST(chunks.in.u32be()); left-- > 0;) {
        MUST(chunks.in.skip(8));
        const auto entry = MUST(chunks.in.u32be());
        if (entries.empty() || entries.back() != entry)
            entries.push_back(entry);
    }
    EXPECT_EQ(entries, (std::vector<std::uint32_t>{1, 2, 1}));
    EXPECT_EQ(movie_samples(movie, *file.child("moov").all("trak")[0]).size(), 150u);
    EXPECT_EQ(fragment_samples(fragmented_excerpt(files, 6s)).at(1).size(), 150u);
}

TEST(Excerpt, TrackThatBeginsLaterIsDelayed) {
    const Files files = {{0s, recorded(2, {avc_track()})}, {2s, recorded(2)}};
    const FileBytes movie = movie_excerpt(files, 4s);
    const TestBox file = read_file(movie);
    const auto tracks = file.child("moov").all("trak");
    ASSERT_EQ(tracks.size(), 2u);
    EXPECT_EQ(first_edit(*tracks[1]), -1);
    EXPECT_EQ(fragment_samples(fragmented_excerpt(files, 4s)).at(2).front().tick, 2u * 44'100);
}

TEST(Excerpt, EndsWithTheLastWholeFragment) {
    const FileBytes whole = recorded(4);
    std::size_t most = 0;
    for (std::size_t size = 0; size < whole.size(); size += 97) {
        const Files files = {{0s, FileBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))}};
        const auto excerpt = excerpt_of(files, 60s);
        if (!excerpt.ok()) {
            EXPECT_EQ(excerpt.code(), Errc::not_found);
            continue;
        }
        const std::size_t samples = fragment_samples(fragmented_excerpt(files, 60s)).at(1).size();
        EXPECT_EQ(samples % 25, 0u);
        EXPECT_GE(samples, most);
        most = samples;
    }
    EXPECT_EQ(most, 75u);
}

TEST(Excerpt, FindsNothingOutsideOfTheRecordings) {
    const Files files = {{-10s, recorded(4)}, {5s, recorded(1)}};
    EXPECT_EQ(excerpt_of(files, 4s).code(), Errc::not_found);
    EXPECT_TRUE(excerpt_of(files, 6s).ok());
    EXPECT_EQ(excerpt_of({}, 4s).code(), Errc::not_found);
    EXPECT_EQ(excerpt_of({{0s, FileBytes(100, 7)}}, 4s).code(), Errc::not_found);
}

TEST(Excerpt, ChangedRecordingEndsTheMovie) {
    const Files files = {{0s, recorded(4)}};
    bool is_gone = false;
    const auto movie =
        MUST(counted_movie(Excerpt::create(
                               {{.size = files[0].second.size(), .start = {}}},
                               [&](std::size_t, std::uint64_t offset, std::size_t count) -> Result<FileBytes> {
                                   return is_gone ? Result<FileBytes>(FileBytes()) : piece_of(files[0].second, offset, count);
                               },
                               60s),
                           0));
    is_gone = true;
    ByteWriter out;
    MUST(movie->read_header(out, 100'000, 100));
    EXPECT_EQ(movie->read_header(out, 100'000, 100).code(), Errc::closed);
}

}  // namespace
}  // namespace live::wire::mp4
