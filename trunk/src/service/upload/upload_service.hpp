// UploadService: copies complete recordings to a bucket. New ones come from the recorders; those that are on the disk are looked
// through at the start and once in an hour, so that a killed process and a full queue lose none. Fibers, `parallel` of them, take
// the next task of any file; a server that fails slows all of them down.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/backoff.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "engine/s3/pace.hpp"
#include "io/fibers/scope.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"
#include "service/upload/credentials.hpp"
#include "service/upload/options.hpp"
#include "service/upload/s3_client.hpp"
#include "service/upload/upload_job.hpp"
#include "service/upload/upload_library.hpp"

namespace live::service::upload {

class UploadService final : public Service {
public:
    // Files that wait. More are found when the queue is empty.
    static constexpr std::size_t kQueuedMax = 20'000;
    // Files that are asked for at a time, and the pause between two looks through all of them.
    static constexpr std::size_t kFilesPerTurn = 1'000;
    static constexpr std::chrono::minutes kScanPause{60};
    // Pauses of one file after a refusal of the server that concerns it alone.
    static constexpr std::chrono::seconds kRetryFirst{5};
    static constexpr std::chrono::seconds kRetryGreatest{600};
    // Uploads under way are cut off at a stop, and go on at the next start.
    static constexpr std::chrono::seconds kStopLimit{5};

    struct Parts {
        const http_client::HttpClient& client;
        CredentialSource::Environment environment;
        UploadLibrary& library;
        // One of several workers looks through the files on the disk.
        bool scans = true;
    };
    // The references outlive this.
    UploadService(const UploadOptions& options, Parts parts, const Log& log);
    UploadService(const UploadService&) = delete;
    UploadService& operator=(const UploadService&) = delete;

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the uploads"; }
    void on_tick() override;
    void write_metrics(MetricsText& text) const override;

    // A recording is complete. Must not suspend.
    void add(const LocalFile& file);

    enum class State : std::uint8_t { queued, sending, waiting, conflict };
    struct Listed {
        const LocalFile& file;
        std::string key;
        State state = State::queued;
        std::uint64_t bytes = 0;
        std::uint64_t sent_bytes = 0;
        std::string error;
    };
    // Files under way, then those that wait.
    std::vector<Listed> list(std::size_t skip, std::size_t most) const;
    std::size_t size() const { return active_.size() + queue_.size(); }

    struct Totals {
        bool is_enabled = false;
        std::size_t files = 0;  // that are not uploaded yet, as far as they are known
        std::uint64_t bytes = 0;
        std::uint64_t uploaded_files = 0;
        std::uint64_t uploaded_bytes = 0;
        std::uint64_t deleted_files = 0;
        std::uint64_t conflicts = 0;
        std::uint32_t parallel = 0;  // requests that are allowed at the same time now
        std::string error;           // why nothing is sent; empty while it is
    };
    Totals totals() const;

private:
    // A file that waits.
    struct Waiting {
        LocalFile file;
        TimePoint not_before{};
        Backoff pauses{kRetryFirst, kRetryGreatest};
        std::string error;
        bool is_conflict = false;
    };
    struct Active {
        Active(Waiting origin, UploadJob made) : waiting(std::move(origin)), job(std::move(made)) {}
        Waiting waiting;
        UploadJob job;
        bool is_ending = false;
    };
    using ActiveRef = std::shared_ptr<Active>;  // its owners: the list, and the fibers that work on it

    bool is_applied_to(const LocalFile& file) const;
    void run(Signal& wake, io::Deadline deadline);
    Result<bool> work(io::Deadline deadline);
    Result<bool> open_next(io::Deadline deadline);
    Result<void> perform(const ActiveRef& active, const engine::s3::FileUpload::Task& task, io::Deadline deadline);
    void note(const ActiveRef& active, const S3Answer& answer);
    Result<void> finish(const ActiveRef& active, io::Deadline deadline);
    Result<void> finish_done(Active& active, io::Deadline deadline);
    void put_back(const ActiveRef& active, const std::string& error, bool is_conflict);
    void forget(const ActiveRef& active);
    void drop(const Waiting& waiting);
    TimePoint next_due() const;
    void wake_all();
    void run_scans(io::Deadline deadline);
    Result<void> scan(io::Deadline deadline);

    const UploadOptions options_;
    Parts parts_;
    Log log_;
    CredentialSource credentials_;
    S3Client client_;
    engine::s3::Pace pace_;
    std::uint32_t under_way_ = 0;  // requests
    std::deque<Waiting> queue_;
    std::vector<ActiveRef> active_;
    std::unordered_set<std::string> known_;  // the paths of both
    struct Scans {
        Signal due;
        std::optional<TimePoint> last;
        bool lacks_some = false;
    };
    Scans scans_;
    std::deque<Signal> wakes_;  // of the fibers
    Totals totals_;
    std::array<std::uint64_t, engine::s3::kTroubles + 1> failures_{};  // the last: refused
    io::Scope fibers_{"upload"};
};

}  // namespace live::service::upload
