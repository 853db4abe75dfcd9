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
#include "wire/mp4/read/excerpt_fragments.hpp"
#include "wire/mp4/read/excerpt_movie.hpp"

namespace live::wire::mp4 {

using FileBytes = std::vector<std::uint8_t>;

inline RecordingNote cam_note() {
    return {.vhost = "__defaultVhost__", .app = "live", .stream = "cam", .start = WallTime(std::chrono::seconds(1'764'000'000))};
}

// `seconds` of video at 25 frames a second with a key frame every two seconds, and of AAC. Frame n has n as its bytes; so has the
// audio frame, from 128 on.
inline FileBytes recorded(int seconds, std::vector<TrackFormat> tracks = {avc_track(), aac_track()}, MediaTime composition = {}) {
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
                                          frame % 50 == 0, i % 2 == 0 ? composition : MediaTime())));
        }
        for (; has_audio && audio * 1'024'000LL / 44'100 < (second + 1) * 1'000; ++audio)
            MUST(writer.push(
                1, sample_of(MediaTime(audio * 1'024'000'000LL / 44'100), 20, static_cast<std::uint8_t>(128 + audio % 128))));
        writer.cut(out, FragmentWriter::Next{.track = 0, .dts = std::chrono::seconds(second + 1)});
    }
    return out.release();
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

inline Result<std::unique_ptr<ExcerptMovie>> counted_movie(Result<Excerpt> excerpt) {
    auto movie = std::make_unique<ExcerptMovie>(TRY(std::move(excerpt)));
    while (!TRY(movie->count(1))) {
    }
    return movie;
}

inline FileBytes movie_excerpt(const std::vector<std::pair<MediaTime, FileBytes>>& files, MediaTime duration,
                               std::size_t portion = 1'000) {
    const auto movie = MUST(counted_movie(excerpt_of(files, duration)));
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
