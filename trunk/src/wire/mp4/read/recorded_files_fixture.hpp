// Recordings in memory, as the recorder writes them, and the excerpts of them as whole files. Included only by tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/media_fixture.hpp"
#include "wire/mp4/movie_header.hpp"
#include "wire/mp4/read/box_head.hpp"
#include "wire/mp4/read/excerpt_fragments.hpp"
#include "wire/mp4/read/excerpt_movie.hpp"

namespace live::wire::mp4 {

using FileBytes = std::vector<std::uint8_t>;

inline RecordingNote cam_note() {
    return {.vhost = "__defaultVhost__", .app = "live", .stream = "cam", .start = WallTime(std::chrono::seconds(1'764'000'000))};
}

// `seconds` of video at 25 frames a second with a key frame every two seconds, or `gop` frames, and of AAC. Frame n has n as its
// bytes; so has the audio frame, from 128 on.
inline FileBytes recorded(int seconds, std::vector<TrackFormat> tracks = {avc_track(), aac_track()}, MediaTime composition = {},
                          int gop = 50) {
    ByteWriter out;
    FragmentWriter writer(std::move(tracks));
    write_fragmented_type(out);
    write_recording_note(out, cam_note());
    writer.write_movie(out);
    const bool has_audio = writer.tracks().size() > 1;
    int audio = 0;
    for (int second = 0; second < seconds; ++second) {
        for (int i = 0; i < 25; ++i) {
            const int frame = second * 25 + i;
            MUST(writer.push(0, sample_of(frame * 40ms, 100 + static_cast<std::size_t>(i), static_cast<std::uint8_t>(frame % 128),
                                          frame % gop == 0, i % 2 == 0 ? composition : MediaTime())));
        }
        for (; has_audio && audio * 1'024'000LL / 44'100 < (second + 1) * 1'000; ++audio)
            MUST(writer.push(
                1, sample_of(MediaTime(audio * 1'024'000'000LL / 44'100), 20, static_cast<std::uint8_t>(128 + audio % 128))));
        writer.cut(out, FragmentWriter::Next{.track = 0, .dts = std::chrono::seconds(second + 1)});
    }
    return out.release();
}

// The same with two B-frames between two others, as encoders send them: frame n is the one that is shown n-th, one frame late.
inline FileBytes reordered(int seconds) {
    constexpr int kGop = 50;
    ByteWriter out;
    FragmentWriter writer({avc_track()});
    write_fragmented_type(out);
    write_recording_note(out, cam_note());
    writer.write_movie(out);
    std::vector<int> order = {0};
    for (int shown = 3; shown < kGop; shown += 3)
        order.insert(order.end(), {shown, shown - 2, shown - 1});
    order.push_back(kGop - 1);
    for (int at = 0; at < seconds * 25; ++at) {
        const int begun = at / kGop * kGop;
        const int shown = begun + order.at(static_cast<std::size_t>(at - begun));
        if (at % 25 == 0 && at > 0)
            writer.cut(out, FragmentWriter::Next{.track = 0, .dts = at * 40ms});
        MUST(writer.push(
            0, sample_of(at * 40ms, 50, static_cast<std::uint8_t>(shown % 128), at % kGop == 0, (shown + 1 - at) * 40ms)));
    }
    writer.cut(out, FragmentWriter::Next{.track = 0, .dts = seconds * 1'000ms});
    return out.release();
}

// The file with these bytes before its fragment of this number, from zero.
inline FileBytes with_bytes(FileBytes file, std::size_t fragment, Bytes bytes) {
    std::size_t place = 0;
    for (;; place += static_cast<std::size_t>(MUST(read_box_head_of(Bytes(file).subspan(place))).size))
        if (MUST(read_box_head_of(Bytes(file).subspan(place))).type == box_type("moof") && fragment-- == 0)
            break;
    file.insert(file.begin() + static_cast<std::ptrdiff_t>(place), bytes.begin(), bytes.end());
    return file;
}

inline FileBytes with_event(FileBytes file, std::size_t fragment, std::string_view scheme, MediaTime at, Bytes data) {
    ByteWriter box;
    write_event_at(box, scheme, at, data);
    return with_bytes(std::move(file), fragment, box.written());
}

inline Result<FileBytes> piece_of(const FileBytes& file, std::uint64_t offset, std::size_t count) {
    const auto from = static_cast<std::size_t>(std::min<std::uint64_t>(offset, file.size()));
    const auto to = from + std::min(count, file.size() - from);
    return FileBytes(file.begin() + static_cast<std::ptrdiff_t>(from), file.begin() + static_cast<std::ptrdiff_t>(to));
}

// Recordings with their starts on the excerpt's timeline. `files` outlives the excerpt.
inline Result<Excerpt> excerpt_of(const std::vector<std::pair<MediaTime, FileBytes>>& files, MediaTime duration) {
    std::vector<ExcerptFile> list;
    for (const auto& [start, bytes] : files)
        list.push_back({.size = bytes.size(), .start = start});
    return Excerpt::create(
        std::move(list),
        [&files](std::size_t file, std::uint64_t offset, std::size_t count) {
            return piece_of(files.at(file).second, offset, count);
        },
        duration);
}

inline void append_ranges(ByteWriter& out, const std::vector<std::pair<MediaTime, FileBytes>>& files,
                          const std::vector<FileRange>& ranges) {
    for (const FileRange& range : ranges)
        out.bytes(MUST(piece_of(files.at(range.file).second, range.offset, static_cast<std::size_t>(range.count))));
}

inline FileBytes fragmented_excerpt(const std::vector<std::pair<MediaTime, FileBytes>>& files, MediaTime duration) {
    ExcerptFragments fragments = MUST(ExcerptFragments::create(MUST(excerpt_of(files, duration))));
    ByteWriter out;
    fragments.write_init(out);
    for (std::vector<FileRange> ranges; MUST(fragments.next(out, ranges));)
        append_ranges(out, files, ranges);
    return out.release();
}

// The number of fragments, and of the parts of files that are their media.
inline std::pair<std::size_t, std::size_t> fragments_and_ranges(const std::vector<std::pair<MediaTime, FileBytes>>& files,
                                                                MediaTime duration) {
    ExcerptFragments fragments = MUST(ExcerptFragments::create(MUST(excerpt_of(files, duration))));
    ByteWriter out;
    std::pair<std::size_t, std::size_t> counts;
    for (std::vector<FileRange> ranges; MUST(fragments.next(out, ranges)); ++counts.first)
        counts.second += ranges.size();
    return counts;
}

inline Result<std::unique_ptr<ExcerptMovie>> counted_movie(Result<Excerpt> excerpt,
                                                           std::size_t held_samples_max = ExcerptMovie::kHeldSamplesMax) {
    auto movie = std::make_unique<ExcerptMovie>(TRY(std::move(excerpt)), held_samples_max);
    while (!TRY(movie->count(1))) {
    }
    return movie;
}

inline FileBytes movie_excerpt(const std::vector<std::pair<MediaTime, FileBytes>>& files, MediaTime duration,
                               std::size_t portion = 1'000, std::size_t held_samples_max = ExcerptMovie::kHeldSamplesMax) {
    const auto movie = MUST(counted_movie(excerpt_of(files, duration), held_samples_max));
    ByteWriter out;
    while (out.size() < movie->header_bytes())
        MUST(movie->read_header(out, portion, 3));
    MUST(movie->read_header(out, portion, 3));
    CHECK(out.size() == movie->header_bytes());
    append_ranges(out, files, movie->ranges());
    CHECK(out.size() == movie->bytes());
    return out.release();
}

}  // namespace live::wire::mp4
