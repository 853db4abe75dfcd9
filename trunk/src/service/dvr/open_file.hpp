// OpenFile: the file that a recorder writes: its bytes, the claim on its path, and its entry in OpenRecordings.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/files/output_file.hpp"
#include "service/dvr/dvr_context.hpp"
#include "service/dvr/file_name.hpp"
#include "service/dvr/recording.hpp"
#include "service/files/path_claims.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

class OpenFile {
public:
    // Limit of one write; a slower disk ends the recording.
    static constexpr std::chrono::seconds kWriteLimit{10};
    // Limit for writing the header of a long recording and renaming the file.
    static constexpr std::chrono::seconds kCloseLimit{30};

    // Referenced objects must outlive this.
    OpenFile(const session::ClientRequest& request, const session::StreamPlan& plan, const DvrContext& context, Log log)
        : request_(request), plan_(plan), context_(context), log_(std::move(log)) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    // Creates `path`. Errc::conflict: the file exists, or another output has claimed it. `metadata` and `note` as in
    // make_recording().
    Result<void> create(const std::string& path, FileFormat format, Bytes metadata, const wire::mp4::RecordingNote& note,
                        io::Deadline deadline);
    bool is_open() const { return recording_ != nullptr; }
    // Must be called only while the file is open.
    Recording& recording() { return *recording_; }
    const Recording& recording() const { return *recording_; }
    std::uint64_t bytes() const { return file_->bytes(); }

    // Writes the bytes that are ready. Returns whether there were any.
    Result<bool> write(Recording::Last last, io::Deadline deadline);
    // Completes the file, after the last write().
    Result<void> commit(io::Deadline deadline);
    // Removes a file without media.
    Result<void> discard(io::Deadline deadline);
    // After `error`: completes the file with the bytes written so far, if the disk allows, and removes an empty one. True if
    // there is a file.
    bool keep_written(const Error& error, io::Deadline deadline);
    // Closes the file as it is.
    void abandon();

private:
    Result<void> claim();
    void remember(io::Deadline deadline);
    void forget(io::Deadline deadline);

    const session::ClientRequest& request_;
    const session::StreamPlan& plan_;
    const DvrContext& context_;
    Log log_;
    std::string path_;
    files::PathClaims::Claim claim_;
    std::unique_ptr<io::OutputFile> file_;
    std::string remembered_;  // its name in OpenRecordings
    // The other owner is the worker that writes the end of the file.
    std::shared_ptr<Recording> recording_;
};

}  // namespace live::service::dvr
