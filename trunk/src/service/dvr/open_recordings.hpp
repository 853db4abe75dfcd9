// OpenRecordings: what is being recorded right now, kept on the disk: a small file for each recording in one folder, while it is
// open. So the next start knows what a process that was killed has left, and whose it is, without searching the disk.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

struct OpenRecording {
    std::string path;  // of the whole file, absolute
    std::string file;  // the same as dvr_path says it
    // Of the publisher; what on_dvr tells.
    session::ClientRequest request;
    std::string vhost;
    std::string url;
};

// Both are dry; broken text is Errc::malformed.
std::string text_of(const OpenRecording& recording);
Result<OpenRecording> parse_open_recording(const std::string& text);

class OpenRecordings {
public:
    // More than one process can have had open.
    static constexpr std::size_t kListedMax = 100'000;
    static constexpr std::size_t kTextBytesMax = 64 << 10;

    explicit OpenRecordings(std::string folder) : folder_(std::move(folder)) {}

    // Gives the name for remove(). Errors as io::replace_file.
    Result<std::string> add(const OpenRecording& recording, io::Deadline deadline);
    Result<void> remove(const std::string& name, io::Deadline deadline);

    struct Left {
        std::string name;
        OpenRecording recording;
    };
    // What is there: before the first add(), what earlier processes have left. What cannot be read is removed.
    Result<std::vector<Left>> left(io::Deadline deadline);

private:
    const std::string folder_;
};

}  // namespace live::service::dvr
