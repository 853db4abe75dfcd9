#include "service/recordings/recordings_service.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"

namespace live::service::recordings {

namespace {

// Whether each file is gone. Another worker may have pinned one.
std::vector<bool> delete_files(const std::vector<std::string>& paths) {
    std::vector<bool> gone;
    for (const std::string& path : paths)
        gone.push_back(::access(pin_path(path).c_str(), F_OK) != 0 && (::unlink(path.c_str()) == 0 || errno == ENOENT));
    // The notes of service/upload.
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (gone[i])
            static_cast<void>(::unlink((paths[i] + ".upload").c_str()));
    return gone;
}

std::vector<bool> pin_files(const std::vector<std::string>& paths, bool is_pinned) {
    std::vector<bool> done;
    for (const std::string& path : paths) {
        if (is_pinned)
            done.push_back(pin(path));
        else
            done.push_back(::unlink(pin_path(path).c_str()) == 0 || errno == ENOENT);
    }
    return done;
}

// The free bytes of the fullest disk that has recordings.
Result<std::uint64_t> free_bytes_of(const std::vector<RecordingRoot>& roots) {
    std::optional<std::uint64_t> least;
    for (const RecordingRoot& root : roots) {
        struct statvfs disk {};
        const std::string folder = root.folder();
        if (::statvfs(folder.empty() ? "." : folder.c_str(), &disk) == 0)
            least = std::min(least.value_or(UINT64_MAX), std::uint64_t{disk.f_bavail} * disk.f_frsize);
    }
    if (!least)
        return Error(Errc::not_found, "there is no folder of recordings");
    return *least;
}

FileFormat format_of(const std::string& path) { return path.ends_with(".flv") ? FileFormat::flv : FileFormat::mp4; }

}  // namespace

Result<void> RecordingsService::start(io::Scope& fibers, io::Deadline) {
    return fibers.start("recordings", [this](io::Deadline forever) { run(forever); });
}

void RecordingsService::run(io::Deadline deadline) {
    for (;;) {
        if (must_scan() && !scan(deadline).ok())
            return;
        if (!read_fresh(deadline).ok() || !retain(deadline).ok() || !io::wait(work_, deadline).ok())
            return;
    }
}

bool RecordingsService::must_scan() {
    if (!scans_.at)
        return true;
    const auto pause = others_ == Others::present ? kSharedScanPause : kScanPause;
    return std::exchange(scans_.is_requested, false) && io::now() - *scans_.at >= pause;
}

// Other processes delete files too.
void RecordingsService::drop_gone(const KnownPaths& known, const KnownPaths& seen) {
    std::vector<std::pair<std::string, std::string>> gone;
    for (const auto& [url, stream] : index_.streams())
        for (const RecordingFile& file : stream.files)
            if (known.contains(file.path) && !seen.contains(file.path))
                gone.emplace_back(url, file.path);
    for (const auto& [url, path] : gone)
        static_cast<void>(index_.remove(url, path));
}

Result<void> RecordingsService::scan(io::Deadline deadline) {
    const TimePoint begun = io::now();
    scans_.lacks_some = false;
    scans_.at = begun;
    const bool is_first = !scans_.is_complete;
    const auto known = std::make_shared<KnownPaths>();
    for (const auto& [url, stream] : index_.streams())
        for (const RecordingFile& file : stream.files)
            if (!file.is_open)
                known->insert(file.path);
    const auto in_progress = others_ == Others::present ? InProgress::found : InProgress::left_out;
    auto scan =
        io::off_loop([roots = roots_(), known, in_progress] { return scan_recordings(roots, *known, in_progress); }, deadline);
    if (!scan.ok() && scan.code() == Errc::cancelled)
        return scan.error();
    if (!scan.ok()) {
        LOG_WARN(log_, "recordings: the files cannot be read: {}", scan.error().text());
        return {};
    }
    std::size_t in_turn = 0;
    for (FoundRecording& found : scan->found) {
        // The entry that a recorder of this process has made meanwhile is newer.
        const std::string url = url_of(found.vhost, found.app, found.stream);
        const RecordingFile* const entry = index_.find_file(url, found.file.path);
        if (entry == nullptr || (entry->is_open && (!found.file.is_open || found.file.bytes > entry->bytes)))
            put(found.vhost, found.app, found.stream, std::move(found.file));
        if (++in_turn % kFilesPerTurn == 0)
            TRY(io::yield(deadline));
    }
    scans_.is_complete = true;
    drop_gone(*known, scan->seen);
    if (!is_first)
        return {};
    LOG_INFO(log_, "recordings: {} files of {} streams, {} MiB, found in {} ms; {} other files ignored{}", index_.files(),
             index_.streams().size(), index_.bytes() >> 20,
             std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - begun).count(), scan->unreadable,
             scan->is_partial ? "; there are more files than the list has" : "");
    return {};
}

void RecordingsService::put(const std::string& vhost, const std::string& app, const std::string& stream, RecordingFile file) {
    const auto listed = index_.put(vhost, app, stream, std::move(file));
    if (!listed.ok() && !std::exchange(is_limit_logged_, true))
        LOG_WARN(log_, "recordings: listing {} files, the limit; ignoring the others", index_.files());
}

RecordingRoot RecordingsService::root_of(const std::string& vhost) const {
    for (const RecordingRoot& root : roots_())
        if (root.vhost == vhost)
            return root;
    return {};
}

void RecordingsService::on_recording(const RecordingEvent& event) {
    if (event.start && event.duration > MediaTime::zero()) {
        RecordingFile file{.path = event.path,
                           .start = *event.start,
                           .duration = event.duration,
                           .bytes = event.bytes,
                           .format = FileFormat::fmp4,
                           .is_open = !event.is_complete};
        std::uint64_t known_bytes = 0;
        if (const RecordingFile* const known = index_.find_file(url_of(event.vhost, event.app, event.stream), event.path)) {
            file.is_pinned = known->is_pinned;
            known_bytes = known->bytes;
        }
        growth_.add(io::now(), file.bytes - std::min(file.bytes, known_bytes));
        if (event.is_complete)
            file.format = format_of(event.path);
        put(event.vhost, event.app, event.stream, std::move(file));
    }
    if (!event.is_complete || fresh_.size() == kFreshMax)
        return;
    fresh_.push_back({root_of(event.vhost), event});
    work_.raise();
}

// The end of a file is exact only there.
Result<void> RecordingsService::read_fresh(io::Deadline deadline) {
    while (!fresh_.empty()) {
        Fresh fresh = std::move(fresh_.front());
        fresh_.pop_front();
        const RecordingEvent& event = fresh.event;
        auto found =
            io::off_loop([root = std::move(fresh.root), path = event.path] { return read_recording(root, path); }, deadline);
        if (!found.ok() && found.code() == Errc::cancelled)
            return found.error();
        if (!found.ok() && found.code() == Errc::not_found)
            static_cast<void>(index_.remove(url_of(event.vhost, event.app, event.stream), event.path));
        if (!found.ok())
            continue;
        RecordingFile file = std::move(found->file);
        if (event.start)
            file.start = *event.start;
        if (const RecordingFile* const known = index_.find_file(url_of(event.vhost, event.app, event.stream), event.path))
            file.is_pinned = file.is_pinned || known->is_pinned;
        put(event.vhost, event.app, event.stream, std::move(file));
    }
    return {};
}

// Once in a second; the disk is looked at for the figures too.
void RecordingsService::on_tick() {
    if (others_ == Others::present && scans_.requested_at && io::now() - *scans_.requested_at < kSharedScanTime) {
        scans_.is_requested = true;
        work_.raise();
    }
    if (index_.files() == 0)
        return;
    is_disk_due_ = true;
    is_retention_due_ = scans_.is_complete && rules_().is_on();
    work_.raise();
}

Result<void> RecordingsService::retain(io::Deadline deadline) {
    if (std::exchange(is_disk_due_, false)) {
        const auto found = io::off_loop([roots = roots_()] { return free_bytes_of(roots); }, deadline);
        if (!found.ok() && found.code() == Errc::cancelled)
            return found.error();
        if (found.ok())
            free_bytes_ = *found;
    }
    if (!std::exchange(is_retention_due_, false))
        return {};
    const RetentionOptions rules = rules_();
    const auto now = wall_now();
    auto due = due_recordings(index_, rules, now, free_bytes_, kDeletedPerTurn);
    const bool lacks_space = free_bytes_ && *free_bytes_ >> 20 < rules.min_free;
    if (!lacks_space)
        is_stuck_logged_ = false;
    else if (due.empty() && !std::exchange(is_stuck_logged_, true))
        LOG_WARN(log_, "recordings: {} MiB are free, less than min_free, and no recording may be deleted", *free_bytes_ >> 20);
    return due.empty() ? Result<void>() : delete_due(std::move(due), deadline);
}

Result<void> RecordingsService::delete_due(std::vector<DueRecording> due, io::Deadline deadline) {
    std::vector<std::string> paths;
    for (const DueRecording& one : due)
        paths.push_back(one.path);
    const auto removed = TRY(io::off_loop([paths = std::move(paths)] { return delete_files(paths); }, deadline));
    std::array<std::size_t, kDeleteReasons> files{};
    std::array<std::uint64_t, kDeleteReasons> bytes{};
    for (std::size_t i = 0; i < due.size(); ++i) {
        if (!removed[i])
            continue;
        index_.remove(due[i].url, due[i].path);
        const auto reason = static_cast<std::size_t>(due[i].reason);
        ++deleted_[reason];
        ++files[reason];
        bytes[reason] += due[i].bytes;
        deleted_bytes_ += due[i].bytes;
    }
    for (std::size_t i = 0; i < kDeleteReasons; ++i)
        if (files[i] > 0)
            LOG_INFO(log_, "recordings: deleted {} files, {} KiB: {}", files[i], bytes[i] >> 10,
                     name_of(static_cast<DeleteReason>(i)));
    const auto failed = std::ranges::count(removed, false);
    if (failed > 0)
        LOG_WARN(log_, "recordings: {} files cannot be deleted, the first is {}", failed,
                 due[static_cast<std::size_t>(std::ranges::find(removed, false) - removed.begin())].path);
    return {};
}

Result<RecordingsService::Change> RecordingsService::remove(const std::string& url, WallTime from, WallTime to,
                                                            io::Deadline deadline) {
    Change change;
    std::vector<std::string> paths;
    std::uint64_t bytes = 0;
    if (const RecordedStream* const stream = index_.find(url))
        for (const RecordingFile& file : stream->files)
            if (file.start >= from && file.start < to) {
                change.kept += file.is_pinned || file.is_open ? 1 : 0;
                if (!file.is_pinned && !file.is_open)
                    paths.push_back(file.path);
            }
    const auto removed = TRY(io::off_loop([paths] { return delete_files(paths); }, deadline));
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (const auto gone = removed[i] ? index_.remove(url, paths[i]) : std::nullopt)
            bytes += gone->bytes;
        ++(removed[i] ? change.changed : change.kept);
    }
    if (change.changed > 0)
        LOG_INFO(log_, "recordings: deleted {} files of {}, {} KiB: requested", change.changed, url, bytes >> 10);
    return change;
}

Result<RecordingsService::Change> RecordingsService::set_pinned(const std::string& url, WallTime from, WallTime to,
                                                                bool is_pinned, io::Deadline deadline) {
    Change change;
    std::vector<std::string> paths;
    if (const RecordedStream* const stream = index_.find(url))
        for (const RecordingFile& file : stream->files)
            if (file.start >= from && file.start < to)
                paths.push_back(file.path);
    const auto done = TRY(io::off_loop([paths, is_pinned] { return pin_files(paths, is_pinned); }, deadline));
    for (std::size_t i = 0; i < paths.size(); ++i) {
        ++(done[i] ? change.changed : change.kept);
        if (RecordingFile* const file = done[i] ? index_.find_file(url, paths[i]) : nullptr)
            file->is_pinned = is_pinned;
    }
    return change;
}

RecordingsService::Disk RecordingsService::disk() const {
    Disk disk;
    disk.free_bytes = free_bytes_;
    disk.growth = growth_.rate(io::now());
    if (free_bytes_)
        disk.full_in = time_until_full(rules_(), index_.bytes(), *free_bytes_, disk.growth);
    for (const std::uint64_t count : deleted_)
        disk.deleted_files += count;
    disk.deleted_bytes = deleted_bytes_;
    return disk;
}

std::vector<StreamHolder::Held> RecordingsService::held() const {
    std::vector<Held> all;
    for (const auto& [url, stream] : index_.streams()) {
        const bool is_open = !stream.files.empty() && stream.files.back().is_open;
        all.push_back({.url = url, .bytes = index_.memory_bytes(stream), .is_published = is_open, .what = Held::What::record});
    }
    return all;
}

void RecordingsService::give_up(const std::string& url) {
    const RecordedStream* const stream = index_.find(url);
    if (stream == nullptr || stream->files.back().is_open)
        return;
    index_.forget(url);
    scans_.lacks_some = true;
}

void RecordingsService::write_metrics(MetricsText& text) const {
    text.family("millrace_recordings_files", MetricsText::Type::gauge, "Recordings on the disk.")
        .sample(std::uint64_t{index_.files()});
    text.family("millrace_recordings_bytes", MetricsText::Type::gauge, "Bytes of recordings on the disk.").sample(index_.bytes());
    const Disk now = disk();
    if (now.free_bytes)
        text.family("millrace_recordings_free_bytes", MetricsText::Type::gauge, "Free bytes of the disk with the recordings.")
            .sample(*now.free_bytes);
    constexpr double kSecondsPerHour = 3600;
    text.family("millrace_recordings_hourly_growth_bytes", MetricsText::Type::gauge,
                "Growth of the recordings per hour, over the last hour.")
        .sample(now.growth * kSecondsPerHour);
    if (now.full_in)
        text.family("millrace_recordings_full_seconds", MetricsText::Type::gauge,
                    "Time until the disk is full at that rate, or until recordings are deleted for space.")
            .sample(static_cast<double>(now.full_in->count()));
    text.family("millrace_recordings_deleted_total", MetricsText::Type::counter, "Recordings deleted by a rule.");
    for (std::size_t i = 0; i < kDeleteReasons; ++i)
        text.sample(deleted_[i], {{"rule", std::string(name_of(static_cast<DeleteReason>(i)))}});
    text.family("millrace_recordings_index_bytes", MetricsText::Type::gauge, "Memory of the list of recordings.")
        .sample(std::uint64_t{index_.memory_bytes() + maps_.memory_bytes()});
    text.family("millrace_recordings_movie_headers_bytes", MetricsText::Type::gauge,
                "Memory of the headers of plain MP4 and of fragments that are kept for equal requests.")
        .sample(std::uint64_t{movies_.memory_bytes()});
    text.family("millrace_recordings_movie_headers_total", MetricsText::Type::counter,
                "Headers of plain MP4 of up to half an hour, and of fragments of up to 15 minutes: computed, and shared by equal "
                "requests.")
        .sample(movies_.counts().made, {{"from", "recordings"}})
        .sample(movies_.counts().shared, {{"from", "memory"}});
}

}  // namespace live::service::recordings
