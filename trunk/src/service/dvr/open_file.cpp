#include "service/dvr/open_file.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "base/log/log_format.hpp"
#include "base/text/normal_path.hpp"

namespace live::service::dvr {

namespace {

// From the published list of errors (spec): an existing file cannot be appended to.
constexpr int kFileExists = 3082;

}  // namespace

Result<void> OpenFile::claim() {
    if (context_.claims == nullptr)
        return {};
    claim_.release();
    const std::filesystem::path path(path_);
    const std::string only = normal_path(path.parent_path().string(), path.filename().string());
    claim_ = TRY(context_.claims->claim({only}, "the recording of " + plan_.url));
    return {};
}

Result<void> OpenFile::create(const std::string& path, FileFormat format, Bytes metadata, const wire::mp4::RecordingNote& note,
                              io::Deadline deadline) {
    path_ = path;
    TRY(claim());
    remember(deadline);
    auto file = io::OutputFile::create(path_, deadline.sooner(io::Deadline::after(kWriteLimit)));
    if (!file.ok())
        forget(deadline);
    if (!file.ok() && file.code() == Errc::conflict)
        return Error(Errc::conflict, fmt::format("{} ({})", file.error().sentence(), kFileExists));
    file_ = TRY(std::move(file));
    recording_ = make_recording(format, metadata, context_.product, note);
    if (context_.events != nullptr)
        recording_->count_events_in(*context_.events);
    return {};
}

Result<bool> OpenFile::write(Recording::Last last, io::Deadline deadline) {
    ByteWriter out;
    recording_->take(out, last);
    if (out.size() == 0)
        return false;
    TRY(file_->append(out.release(), deadline.sooner(io::Deadline::after(kWriteLimit))));
    return true;
}

Result<void> OpenFile::commit(io::Deadline deadline) {
    const auto file = std::exchange(file_, nullptr);
    // The worker is the second owner: it builds the header, which takes time for long recordings.
    const std::shared_ptr<const Recording> recording = std::exchange(recording_, nullptr);
    TRY(file->commit([recording] { return recording->finish(); }, deadline.sooner(io::Deadline::after(kCloseLimit))));
    claim_.release();
    forget(deadline);
    return {};
}

Result<void> OpenFile::discard(io::Deadline deadline) {
    recording_.reset();
    TRY(std::exchange(file_, nullptr)->discard(deadline.sooner(io::Deadline::after(kWriteLimit))));
    claim_.release();
    forget(deadline);
    return {};
}

bool OpenFile::keep_written(const Error& error, io::Deadline deadline) {
    if (recording_ && recording_->has_media() && file_->bytes() > 0) {
        ByteWriter lost;
        recording_->take(lost, Recording::Last::yes);
        recording_->truncate_at(file_->bytes());
        const auto closed = commit(deadline);
        if (!closed.ok())
            LOG_ERROR(log_, "DVR {}: cannot complete {}.tmp: {}", plan_.url, path_, closed.error().text());
        return closed.ok();
    }
    // After any other error a worker may still be writing.
    if (file_ && error.code() == Errc::system && file_->discard(deadline).ok())
        forget(deadline);
    return false;
}

void OpenFile::abandon() {
    recording_.reset();
    file_.reset();
    remembered_.clear();
    claim_.release();
}

void OpenFile::remember(io::Deadline deadline) {
    if (context_.open == nullptr)
        return;
    std::error_code ignored;
    const OpenRecording recording{.path = std::filesystem::absolute(path_, ignored).string(),
                                  .file = path_,
                                  .request = request_,
                                  .vhost = plan_.vhost,
                                  .url = plan_.url};
    auto name = context_.open->add(recording, deadline.sooner(io::Deadline::after(kWriteLimit)));
    if (name.ok())
        remembered_ = *std::move(name);
    else
        LOG_WARN(log_, "DVR {}: after a kill, the next start cannot finish {}: {}", plan_.url, path_, name.error().text());
}

void OpenFile::forget(io::Deadline deadline) {
    if (!remembered_.empty())
        static_cast<void>(
            context_.open->remove(std::exchange(remembered_, {}), deadline.sooner(io::Deadline::after(kWriteLimit))));
}

}  // namespace live::service::dvr
