// Finds recordings on the disk and reads the index's facts of each: the stream and the time, from the file's own note
// (wire/mp4/read/recording_note.hpp), otherwise from its name and its time of change. Blocks: call it in a worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

struct Scan {
    std::vector<FoundRecording> found;  // by stream and time
    std::size_t unreadable = 0;
    bool is_partial = false;  // there are more files than the index has
};

// Folders above this depth are not looked into, and links are not followed.
inline constexpr int kFolderDepthMax = 16;

Scan scan_recordings(const std::vector<RecordingRoot>& roots);

// The empty file beside a pinned recording.
std::string pin_path(const std::string& path);

// One complete file. `form` is as in RecordingRoot. Errc::not_found, Errc::system, Errc::malformed, Errc::unsupported: no
// recording.
Result<FoundRecording> read_recording(const RecordingRoot& root, const std::string& path);

}  // namespace live::service::recordings
