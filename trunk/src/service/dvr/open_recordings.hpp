// OpenRecordings: a list on disk of the recordings in progress: one small file per recording, in one folder. After a kill, the
// next start reads from it the unfinished recordings and their publishers, without searching the disk.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

struct OpenRecording {
    std::string path;  // of the finished file, absolute
    std::string file;  // the same, as in dvr_path
    // The publisher's request; reported in on_dvr.
    session::ClientRequest request;
    std::string vhost;
    std::string url;
};

// Both are dry; malformed text is Errc::malformed.
std::string text_of(const OpenRecording& recording);
Result<OpenRecording> parse_open_recording(const std::string& text);

class OpenRecordings {
public:
    // More than a process can have open.
    static constexpr std::size_t kListedMax = 100'000;
    static constexpr std::size_t kTextBytesMax = 64 << 10;

    explicit OpenRecordings(std::string folder) : folder_(std::move(folder)) {}

    // Returns the name for remove(). Errors as io::replace_file.
    Result<std::string> add(const OpenRecording& recording, io::Deadline deadline);
    Result<void> remove(const std::string& name, io::Deadline deadline);

    struct Left {
        std::string name;
        OpenRecording recording;
    };
    // The existing entries: before the first add(), those of earlier processes. Unreadable ones are removed.
    Result<std::vector<Left>> left(io::Deadline deadline);

private:
    const std::string folder_;
};

}  // namespace live::service::dvr
