// PlaybackSource: the files of one excerpt and what makes of them the bytes to send: MP4 in fragments, or with its index in
// front. Its functions run in worker threads, in steps of a few milliseconds, so that many clients share them; a client's state
// is some hundred KiB, whatever it plays.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/files/file.hpp"
#include "io/threads/worker_pool.hpp"
#include "service/recordings/file_reader.hpp"
#include "service/recordings/movies/kept_movies.hpp"
#include "service/recordings/recording_index.hpp"
#include "wire/mp4/read/excerpt_fragments.hpp"
#include "wire/mp4/read/excerpt_movie.hpp"

namespace live::service::recordings {

class PlaybackSource {
public:
    // Limits of one step in a worker.
    static constexpr std::size_t kReadsPerStep = 1'000;
    static constexpr std::size_t kHeaderBytesPerStep = 64 << 10;
    static constexpr std::size_t kFragmentsPerStep = 16;
    static constexpr std::chrono::seconds kStepLimit{30};

    // One fragment: its header and where its media are.
    struct Part {
        std::vector<std::uint8_t> head;
        std::vector<wire::mp4::FileRange> media;
    };

    // `party`: whose turn it is in the worker threads.
    static Result<PlaybackSource> open(const std::vector<RecordingFile>& files, WallTime start, MediaTime duration,
                                       std::optional<io::Party> party, io::Deadline deadline);

    // Recordings whose places are known.
    static PlaybackSource of_files(const std::vector<RecordingFile>& files, std::optional<io::Party> party);
    // The header of the first one; and its fragments from `offset` on, `bytes` in all, moved in time. Errc::not_found: none begin
    // or end there.
    Result<Part> file_header(std::uint64_t size, io::Deadline deadline);
    Result<std::vector<Part>> file_segment(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes, MediaTime at,
                                           io::Deadline deadline);

    // As fragments: the header, then all parts; an empty list at the end.
    Result<std::vector<std::uint8_t>> init(io::Deadline deadline, MediaTime duration = {});
    Result<std::vector<Part>> next(io::Deadline deadline);
    // All of them; nullptr if their headers are more than KeptMovies has room for.
    Result<KeptMovies::Movie> whole_fragments(io::Deadline deadline);

    // As a movie: first the count, then the header, in steps, of which some are empty.
    Result<void> count(io::Deadline deadline);
    const wire::mp4::ExcerptMovie& movie() const { return *work_->movie; }
    Result<std::vector<std::uint8_t>> next_header(io::Deadline deadline);
    // The whole of it, after the count; nullptr if that is more than KeptMovies has room for.
    Result<KeptMovies::Movie> whole_header(io::Deadline deadline);

    // Bytes of a part: at most `most` of the range, and at least one. Errc::closed: the file has become shorter.
    Result<std::vector<std::uint8_t>> read(const wire::mp4::FileRange& range, std::size_t most, io::Deadline deadline);

    // The file for sending, which is kept open until another one is.
    Result<const io::File*> file(std::size_t number, io::Deadline deadline);
    // Differs after any change of a file, or of what is read of it: a key for KeptMovies.
    Result<std::string> key_of(const std::vector<RecordingFile>& files, WallTime start, MediaTime duration,
                               io::Deadline deadline);

private:
    // The other owner is a worker that still runs after the caller has stopped waiting.
    struct Work {
        explicit Work(std::vector<std::string> paths) : reader(std::move(paths)) {}
        FileReader reader;
        std::optional<wire::mp4::Excerpt> excerpt;
        std::optional<wire::mp4::ExcerptFragments> fragments;
        std::optional<wire::mp4::ExcerptMovie> movie;
    };

    explicit PlaybackSource(std::vector<std::string> paths, std::optional<io::Party> party);
    Result<void> prepare(io::Deadline deadline);
    Result<io::File> open_for_sending(const std::string& path, io::Deadline deadline) const;

    std::vector<std::string> paths_;
    std::optional<io::Party> party_;
    std::shared_ptr<Work> work_;
    std::optional<std::size_t> open_;
    std::optional<io::File> file_;
};

}  // namespace live::service::recordings
