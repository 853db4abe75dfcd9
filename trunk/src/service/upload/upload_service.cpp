#include "service/upload/upload_service.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"

namespace live::service::upload {

namespace {

using engine::s3::FileUpload;
using Kind = S3Answer::Kind;

constexpr std::array kReasons = {"unreachable", "slow_down", "denied", "refused"};

std::uint32_t random_part() { return static_cast<std::uint32_t>(random_number()); }

std::string url_of(const LocalFile& file) { return file.app + "/" + file.stream; }

}  // namespace

UploadService::UploadService(const UploadOptions& options, Parts parts, const Log& log)
    : options_(options),
      parts_(std::move(parts)),
      log_(log.with_id("UPL")),
      credentials_(options_, parts_.client, parts_.environment),
      client_(options_, parts_.client, credentials_, log_),
      pace_(options.parallel) {}

Result<void> UploadService::start(io::Scope&, io::Deadline) {
    if (!options_.enabled)
        return {};
    LOG_INFO(log_, "upload: recordings go to {}, {} requests at a time", client_.label(), options_.parallel);
    for (std::uint32_t i = 0; i < options_.parallel; ++i) {
        Signal& wake = wakes_.emplace_back();
        TRY(fibers_.start("upload", [this, &wake](io::Deadline forever) { run(wake, forever); }));
    }
    return parts_.scans ? fibers_.start("upload-scan", [this](io::Deadline forever) { run_scans(forever); }) : Result<void>();
}

Result<void> UploadService::stop(io::Deadline deadline) { return fibers_.stop(deadline.sooner(io::Deadline::after(kStopLimit))); }

bool UploadService::is_applied_to(const LocalFile& file) const {
    const auto names = [&file](const std::string& word) { return word == "all" || word == url_of(file); };
    return std::ranges::any_of(options_.apply, names);
}

void UploadService::wake_all() {
    for (Signal& wake : wakes_)
        wake.raise();
}

void UploadService::add(const LocalFile& file) {
    if (!options_.enabled || !is_applied_to(file) || known_.contains(file.path))
        return;
    if (queue_.size() == kQueuedMax) {
        scans_.lacks_some = true;
        return;
    }
    known_.insert(file.path);
    totals_.bytes += file.bytes;
    queue_.push_back({.file = file, .error = {}});
    wake_all();
}

void UploadService::drop(const Waiting& waiting) {
    known_.erase(waiting.file.path);
    totals_.bytes -= waiting.file.bytes;
}

void UploadService::forget(const ActiveRef& active) {
    std::erase(active_, active);
    drop(active->waiting);
}

void UploadService::on_tick() {
    const bool is_first = !scans_.last && parts_.library.is_complete();
    const bool has_room = scans_.lacks_some && queue_.empty();
    if (is_first || has_room || (scans_.last && io::now() - *scans_.last >= kScanPause))
        scans_.due.raise();
}

void UploadService::run_scans(io::Deadline deadline) {
    while (io::wait(scans_.due, deadline).ok())
        if (!scan(deadline).ok())
            return;
}

Result<void> UploadService::scan(io::Deadline deadline) {
    scans_.last = io::now();
    scans_.lacks_some = false;
    for (std::size_t skip = 0; !scans_.lacks_some;) {
        std::vector<LocalFile> files;
        std::vector<std::string> paths;
        std::size_t seen = 0;
        parts_.library.for_each(skip, [&](const LocalFile& file) {
            if (!known_.contains(file.path) && is_applied_to(file)) {
                files.push_back(file);
                // With delete_local, a file is not done before it is deleted.
                if (!options_.delete_local || file.is_pinned)
                    paths.push_back(file.path);
            }
            return ++seen < kFilesPerTurn;
        });
        if (seen == 0)
            break;
        skip += seen;
        const auto done = TRY(io::off_loop([paths = std::move(paths)] { return with_done(paths); }, deadline));
        std::erase_if(files, [&done](const LocalFile& file) { return done.contains(file.path); });
        for (const LocalFile& file : files)
            add(file);
        TRY(io::yield(deadline));
    }
    return {};
}

void UploadService::run(Signal& wake, io::Deadline deadline) {
    for (;;) {
        const auto worked = work(deadline);
        if (!worked.ok())
            return;
        if (*worked)
            continue;
        const auto waited = io::wait(wake, io::Deadline::at(next_due()));
        if (!waited.ok() && waited.code() == Errc::cancelled)
            return;
    }
}

TimePoint UploadService::next_due() const {
    TimePoint due = TimePoint::max();
    for (const Waiting& waiting : queue_)
        if (!waiting.is_conflict)
            due = std::min(due, waiting.not_before);
    for (const ActiveRef& active : active_)
        if (active->job.upload().is_due())
            due = TimePoint{};
    // While all is under way, the end of a request wakes this.
    due = std::max(due, pace_.paused_until());
    return due > io::now() ? due : TimePoint::max();
}

// Whether there was something to do.
Result<bool> UploadService::work(io::Deadline deadline) {
    if (!pace_.may_begin(io::now(), under_way_))
        return false;
    for (std::size_t i = 0; i < active_.size(); ++i) {
        const ActiveRef active = active_[i];
        if (active->is_ending)
            continue;
        if (const auto task = active->job.upload().next()) {
            TRY(perform(active, *task, deadline));
            return true;
        }
    }
    return active_.size() < options_.parallel ? open_next(deadline) : Result<bool>(false);
}

Result<bool> UploadService::open_next(io::Deadline deadline) {
    const TimePoint now = io::now();
    const auto found =
        std::ranges::find_if(queue_, [now](const Waiting& waiting) { return !waiting.is_conflict && waiting.not_before <= now; });
    if (found == queue_.end())
        return false;
    Waiting waiting = std::move(*found);
    queue_.erase(found);
    auto noted = io::off_loop([path = waiting.file.path] { return NotedFile::open(path); }, deadline);
    if (!noted.ok() && noted.code() == Errc::cancelled)
        return noted.error();
    const bool is_done = noted.ok() && noted->note().is_done() && !options_.delete_local;
    const bool is_elsewhere = !noted.ok() && (noted.code() == Errc::not_found || noted.code() == Errc::conflict);
    if (is_done || is_elsewhere) {
        drop(waiting);
        return true;
    }
    if (!noted.ok()) {
        LOG_WARN(log_, "upload: {}", noted.error().sentence());
        waiting.error = noted.error().sentence();
        waiting.not_before = io::now() + waiting.pauses.next(random_part());
        queue_.push_back(std::move(waiting));
        return true;
    }
    const LocalFile file = waiting.file;
    active_.push_back(
        std::make_shared<Active>(std::move(waiting), UploadJob(options_, file, key_of(options_, file), *std::move(noted))));
    wake_all();
    return true;
}

Result<void> UploadService::perform(const ActiveRef& active, const FileUpload::Task& task, io::Deadline deadline) {
    ++under_way_;
    wake_all();
    const S3Answer answer = active->job.perform(client_, task, deadline);
    --under_way_;
    if (answer.kind == Kind::ended)
        return Error(Errc::cancelled, "the server stops");
    note(active, answer);
    const FileUpload& upload = active->job.upload();
    // The last fiber that works on it.
    const bool is_over = upload.end() != FileUpload::End::none || active->is_ending;
    if (is_over && upload.under_way() == 0)
        TRY(finish(active, deadline));
    wake_all();
    return {};
}

void UploadService::note(const ActiveRef& active, const S3Answer& answer) {
    // Not a failure: the file continues with a new upload.
    if (answer.kind == Kind::unknown_upload)
        return;
    if (answer.kind == Kind::ok) {
        pace_.succeeded();
        if (!totals_.error.empty())
            LOG_INFO(log_, "upload: {} accepts files again", client_.label());
        totals_.error.clear();
        return;
    }
    if (answer.kind == Kind::refused) {
        ++failures_.back();
        active->waiting.error = answer.reason;
        active->is_ending = true;
        LOG_WARN(log_, "upload: {}: {}", active->job.key(), answer.reason);
        return;
    }
    ++failures_[static_cast<std::size_t>(answer.trouble)];
    pace_.failed(answer.trouble, io::now(), random_part());
    if (totals_.error != answer.reason)
        LOG_WARN(log_, "upload: {} takes no files now: {}", client_.label(), answer.reason);
    totals_.error = answer.reason;
}

Result<void> UploadService::finish(const ActiveRef& active, io::Deadline deadline) {
    // Others see it no more.
    std::erase(active_, active);
    switch (active->job.upload().end()) {
        case FileUpload::End::none: put_back(active, active->waiting.error, false); return {};
        case FileUpload::End::conflict:
            ++totals_.conflicts;
            LOG_ERROR(log_, "upload: {} is another object than {}, which stays here", active->job.key(), active->job.file().path);
            parts_.library.on_upload(
                active->job.file(),
                {options_.bucket, active->job.key(), active->job.bytes(), {}, "the bucket has another object of this name"});
            put_back(active, "the bucket has another object of this name", true);
            return {};
        case FileUpload::End::gone: drop(active->waiting); return active->job.remove_note(deadline);
        case FileUpload::End::done: break;
    }
    return finish_done(*active, deadline);
}

Result<void> UploadService::finish_done(Active& active, io::Deadline deadline) {
    UploadJob& job = active.job;
    const auto noted = job.note_done(deadline);
    if (!noted.ok() && noted.code() == Errc::cancelled)
        return noted;
    if (!noted.ok())
        LOG_WARN(log_, "upload: {}", noted.error().sentence());
    if (!job.was_done()) {
        ++totals_.uploaded_files;
        totals_.uploaded_bytes += job.bytes();
        LOG_INFO(log_, "upload: {} is complete, {} KiB", job.key(), job.bytes() >> 10);
        parts_.library.on_upload(job.file(), {options_.bucket, job.key(), job.bytes(), job.upload().etag(), {}});
    }
    if (options_.delete_local) {
        const auto removed = parts_.library.remove(job.file(), deadline);
        if (!removed.ok() && removed.code() == Errc::cancelled)
            return removed.error();
        if (removed.ok() && *removed) {
            ++totals_.deleted_files;
            TRY(job.remove_note(deadline));
        }
    }
    drop(active.waiting);
    return {};
}

void UploadService::put_back(const ActiveRef& active, const std::string& error, bool is_conflict) {
    Waiting waiting = active->waiting;
    waiting.error = error;
    waiting.is_conflict = is_conflict;
    waiting.not_before = io::now() + waiting.pauses.next(random_part());
    queue_.push_back(std::move(waiting));
}

std::vector<UploadService::Listed> UploadService::list(std::size_t skip, std::size_t most) const {
    std::vector<Listed> all;
    for (std::size_t i = skip; i < size() && all.size() < most; ++i) {
        if (i < active_.size()) {
            const UploadJob& job = active_[i]->job;
            all.push_back({job.file(), job.key(), totals_.error.empty() ? State::sending : State::waiting, job.bytes(),
                           job.upload().sent_bytes(), totals_.error});
            continue;
        }
        const Waiting& waiting = queue_[i - active_.size()];
        const State state = waiting.is_conflict ? State::conflict : waiting.error.empty() ? State::queued : State::waiting;
        all.push_back({waiting.file, key_of(options_, waiting.file), state, waiting.file.bytes, 0, waiting.error});
    }
    return all;
}

UploadService::Totals UploadService::totals() const {
    Totals totals = totals_;
    totals.is_enabled = options_.enabled;
    totals.files = size();
    totals.parallel = pace_.allowed();
    return totals;
}

void UploadService::write_metrics(MetricsText& text) const {
    if (!options_.enabled)
        return;
    using Type = MetricsText::Type;
    text.family("millrace_upload_backlog_files", Type::gauge, "Recordings that wait for their upload.")
        .sample(std::uint64_t{size()});
    text.family("millrace_upload_backlog_bytes", Type::gauge, "Bytes of recordings that wait for their upload.")
        .sample(totals_.bytes);
    text.family("millrace_upload_requests", Type::gauge, "Requests to the object storage that are under way.")
        .sample(std::uint64_t{under_way_});
    text.family("millrace_upload_parallel", Type::gauge, "Requests to the object storage that are allowed at the same time.")
        .sample(std::uint64_t{pace_.allowed()});
    text.family("millrace_uploaded_files_total", Type::counter, "Recordings that were uploaded.").sample(totals_.uploaded_files);
    text.family("millrace_uploaded_bytes_total", Type::counter, "Bytes of recordings that were uploaded.")
        .sample(totals_.uploaded_bytes);
    text.family("millrace_upload_deleted_files_total", Type::counter, "Recordings that were deleted after their upload.")
        .sample(totals_.deleted_files);
    text.family("millrace_upload_conflicts_total", Type::counter, "Recordings whose name another object has.")
        .sample(totals_.conflicts);
    text.family("millrace_upload_failures_total", Type::counter, "Requests to the object storage that failed.");
    for (std::size_t i = 0; i < kReasons.size(); ++i)
        text.sample(failures_[i], {{"reason", kReasons[i]}});
}

}  // namespace live::service::upload
