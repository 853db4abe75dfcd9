// RecordingIndex: the recordings of all streams by time, in memory. Made from the files (recording_scan.hpp), and kept by the
// events of the recorders. Dry.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "base/text/wall_time_text.hpp"
#include "base/time.hpp"

namespace live::service::recordings {

enum class FileFormat : std::uint8_t { flv, mp4, fmp4 };

struct RecordingFile {
    std::string path;
    WallTime start{};
    MediaTime duration{};
    std::uint64_t bytes = 0;
    FileFormat format = FileFormat::fmp4;
    bool is_open = false;  // it is being recorded, at path.tmp
    bool is_pinned = false;

    WallTime end() const { return start + duration; }
    bool operator==(const RecordingFile&) const = default;
};

struct RecordedStream {
    std::string vhost;
    std::string app;
    std::string stream;
    std::vector<RecordingFile> files;  // by start
    std::uint64_t bytes = 0;

    std::string url() const;
};

// Recordings without a gap between them.
struct RecordedSpan {
    WallTime start{};
    MediaTime duration{};
    std::uint64_t bytes = 0;
    std::size_t files = 0;
    bool is_open = false;
};

class RecordingIndex {
public:
    static constexpr std::size_t kFilesMax = 200'000;
    // Recordings with a shorter pause between them are one span, and so are those that overlap by less.
    static constexpr MediaTime kGapMax = std::chrono::milliseconds(500);

    // Adds a file, or replaces the one of that path. Errc::limit.
    Result<void> put(const std::string& vhost, const std::string& app, const std::string& stream, RecordingFile file);
    // Returns the file that was removed.
    std::optional<RecordingFile> remove(const std::string& url, const std::string& path);
    // Removes a stream from the list only.
    void forget(const std::string& url);
    // nullptr without recordings.
    const RecordedStream* find(const std::string& url) const;
    RecordingFile* find_file(const std::string& url, const std::string& path);
    const std::map<std::string, RecordedStream>& streams() const { return streams_; }

    std::size_t files() const { return files_; }
    std::uint64_t bytes() const { return bytes_; }
    // The memory of the index itself; approximate.
    std::size_t memory_bytes(const RecordedStream& stream) const;
    std::size_t memory_bytes() const;

private:
    void count(RecordedStream& stream, const RecordingFile& file, std::int64_t sign);

    std::vector<RecordingFile>::iterator place_of(RecordedStream& stream, const std::string& path);

    std::map<std::string, RecordedStream> streams_;     // by URL
    std::unordered_map<std::size_t, WallTime> starts_;  // by the hash of the path
    std::size_t files_ = 0;
    std::uint64_t bytes_ = 0;
    std::size_t text_bytes_ = 0;
};

// The spans that overlap [from, to), trimmed to it.
std::vector<RecordedSpan> spans_of(const RecordedStream& stream, std::optional<WallTime> from, std::optional<WallTime> to);

// Recordings for playback from `start` on: those of the span that has it, and of later spans that begin after the end of the one
// before, up to `start` + `duration`. If no recording runs at that time, the first one later.
std::vector<RecordingFile> files_from(const RecordedStream& stream, WallTime start, MediaTime duration);

// The fragmented recording that begins at exactly this time; nullptr without one.
const RecordingFile* file_at(const RecordedStream& stream, WallTime start);

// The clock of the machine.
inline WallTime wall_now() { return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()); }

// "/app/stream" in the default virtual host, "vhost/app/stream" in another: as the URL of a source.
std::string url_of(const std::string& vhost, const std::string& app, const std::string& stream);

}  // namespace live::service::recordings
