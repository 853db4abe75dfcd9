// Finds recordings on the disk and reads the index's facts of each: the stream and the time, from the file's own note
// (wire/mp4/read/recording_note.hpp), otherwise from its name and its time of change. Blocks: call it in a worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/result.hpp"
#include "service/recordings/recording_index.hpp"

namespace live::service::recordings {

// Where a virtual host's recordings are.
struct RecordingRoot {
    std::string vhost;
    std::string form;  // the template of file names

    // The folder above all of its files.
    std::string folder() const;
};

struct FoundRecording {
    std::string vhost;
    std::string app;
    std::string stream;
    RecordingFile file;
};

// Paths of complete recordings that are listed already: they are not read again.
using KnownPaths = std::unordered_set<std::string>;

struct Scan {
    std::vector<FoundRecording> found;  // by stream and time
    KnownPaths seen;                    // of the known ones
    std::size_t unreadable = 0;
    bool is_partial = false;  // there are more files than the index has
};

// Folders above this depth are not looked into, and links are not followed.
inline constexpr int kFolderDepthMax = 16;

// Whether recordings in progress, of other processes, are found too: as far as they are whole.
enum class InProgress : bool { left_out, found };

Scan scan_recordings(const std::vector<RecordingRoot>& roots, const KnownPaths& known = {},
                     InProgress in_progress = InProgress::left_out);

// The empty file beside a pinned recording.
std::string pin_path(const std::string& path);
// Makes it. Returns whether it is there.
bool pin(const std::string& path);

// A recording in progress: `path` is that of the complete file. Errors as below; Errc::need_more: nothing can be played yet.
Result<FoundRecording> read_open_recording(const std::string& path);

// One complete file. `form` is as in RecordingRoot. Errc::not_found, Errc::system, Errc::malformed, Errc::unsupported: no
// recording.
Result<FoundRecording> read_recording(const RecordingRoot& root, const std::string& path);

}  // namespace live::service::recordings
