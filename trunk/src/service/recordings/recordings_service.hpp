// RecordingsService: the library of recordings: the index of the files on the disk, made by a worker thread at the start and kept
// by the events of the recorders.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/text/wall_time_text.hpp"
#include "base/time.hpp"
#include "io/fibers/loop.hpp"
#include "service/recordings/movies/kept_movies.hpp"
#include "service/recordings/recording_index.hpp"
#include "service/recordings/recording_scan.hpp"
#include "service/recordings/retention.hpp"
#include "service/recordings/segment_maps.hpp"
#include "service/service.hpp"

namespace live::service::recordings {

// A recording in progress, each time that more of it can be played; and a complete one.
struct RecordingEvent {
    std::string vhost;
    std::string app;
    std::string stream;
    std::string path;               // of the complete file
    std::optional<WallTime> start;  // none: that of the file's note
    MediaTime duration{};           // that can be played
    std::uint64_t bytes = 0;
    bool is_complete = false;
};

class RecordingsService final : public Service, private StreamHolder {
public:
    // Complete files whose end is not read yet.
    static constexpr std::size_t kFreshMax = 10'000;
    static constexpr std::size_t kFilesPerTurn = 500;
    // After the memory of a stream's entries was taken away, a request brings them back; not more often than this.
    static constexpr std::chrono::seconds kScanPause{60};
    // With other processes that record: between two looks for their files, for so long after a request.
    static constexpr std::chrono::seconds kSharedScanPause{2};
    static constexpr std::chrono::seconds kSharedScanTime{60};

    // Deleted at once, and the pause before the next look.
    static constexpr std::size_t kDeletedPerTurn = 200;

    // Both are asked whenever they are needed, so that a reload takes effect.
    using Roots = std::function<std::vector<RecordingRoot>()>;
    using Rules = std::function<RetentionOptions()>;
    // `others`: whether other processes record into the same folders.
    enum class Others : bool { absent, present };
    RecordingsService(Roots roots, Rules rules, Others others, Log log)
        : roots_(std::move(roots)), rules_(std::move(rules)), others_(others), log_(std::move(log)) {}
    RecordingsService(const RecordingsService&) = delete;
    RecordingsService& operator=(const RecordingsService&) = delete;

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    std::string_view name() const override { return "the library of recordings"; }
    StreamHolder* memory() override { return this; }
    void write_metrics(MetricsText& text) const override;
    void on_tick() override;

    // Must not suspend.
    void on_recording(const RecordingEvent& event);
    const RecordingIndex& index() const { return index_; }
    SegmentMaps& maps() { return maps_; }
    KeptMovies& movies() { return movies_; }
    // False while the files that were there at the start are still being read.
    bool is_complete() const { return scans_.is_complete; }

    // Recordings that begin in a span of time.
    struct Change {
        std::size_t changed = 0;
        std::size_t kept = 0;  // pinned, in progress, or the disk refuses
    };
    // Deletes them from the disk. Errc::cancelled, Errc::timed_out.
    Result<Change> remove(const std::string& url, WallTime from, WallTime to, io::Deadline deadline);
    // Pins or releases them, by a file beside each.
    Result<Change> set_pinned(const std::string& url, WallTime from, WallTime to, bool is_pinned, io::Deadline deadline);

    struct Disk {
        std::optional<std::uint64_t> free_bytes;
        double growth = 0;  // bytes in a second, over the last hour
        std::optional<std::chrono::seconds> full_in;
        std::uint64_t deleted_files = 0;
        std::uint64_t deleted_bytes = 0;
    };
    Disk disk() const;
    // For a request: see kScanPause.
    void note_request() {
        scans_.requested_at = io::now();
        if (!scans_.lacks_some && others_ == Others::absent)
            return;
        scans_.is_requested = true;
        work_.raise();
    }

private:
    struct Fresh {
        RecordingRoot root;
        RecordingEvent event;
    };

    std::vector<Held> held() const override;
    void give_up(const std::string& url) override;
    void run(io::Deadline deadline);
    bool must_scan();
    Result<void> scan(io::Deadline deadline);
    void drop_gone(const KnownPaths& known, const KnownPaths& seen);
    Result<void> read_fresh(io::Deadline deadline);
    Result<void> retain(io::Deadline deadline);
    Result<void> delete_due(std::vector<DueRecording> due, io::Deadline deadline);
    RecordingRoot root_of(const std::string& vhost) const;
    void put(const std::string& vhost, const std::string& app, const std::string& stream, RecordingFile file);

    const Roots roots_;
    const Rules rules_;
    const Others others_;
    Log log_;
    RecordingIndex index_;
    SegmentMaps maps_;
    KeptMovies movies_;
    struct Scans {
        bool is_complete = false;  // once
        bool lacks_some = false;   // a stream's entries were given up
        bool is_requested = false;
        std::optional<TimePoint> at;
        std::optional<TimePoint> requested_at;
    };
    Scans scans_;
    bool is_limit_logged_ = false;
    std::deque<Fresh> fresh_;
    bool is_retention_due_ = false;
    bool is_disk_due_ = false;
    bool is_stuck_logged_ = false;
    std::optional<std::uint64_t> free_bytes_;
    GrowthMeter growth_;
    std::array<std::uint64_t, kDeleteReasons> deleted_{};
    std::uint64_t deleted_bytes_ = 0;
    Signal work_;
};

}  // namespace live::service::recordings
