// DvrService: which streams are recorded. Hears of every published stream, starts a recorder for those that the settings name,
// and lets it end when the stream does. Never suspends on the publisher's way; what a recorder still has to write, it writes in a
// fiber of its own.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "io/scope.hpp"
#include "media/stream_table.hpp"
#include "service/dvr/options.hpp"
#include "service/dvr/recorder.hpp"
#include "service/service.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

class DvrService final : public Service {
public:
    // Recordings that failed are listed until the stream is published again, the newest of them.
    static constexpr std::size_t kFailedMax = 64;
    // How long clients wait for recordings that a killed process has left.
    static constexpr std::chrono::seconds kLeftLimit{5};
    // More than a write and a close may take.
    static constexpr std::chrono::seconds kStopLimit{45};

    struct Listed {
        std::string url;  // of the source
        bool is_active = false;
        Recorder::State state;
    };

    // What is referred to outlives this.
    DvrService(media::StreamTable& streams, const OptionsOf<DvrOptions>& options, DvrContext context, Log log);
    ~DvrService() override;
    DvrService(const DvrService&) = delete;
    DvrService& operator=(const DvrService&) = delete;

    // Finishes what a process that was killed has left, and tells of it, before anybody publishes the same stream into the same
    // file again; what takes longer goes on beside the first recordings.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;

    // A stream that is recorded already (another publisher took it over) stays as it is.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;

    // Ends all recordings and waits for their files. A recording without its end is worth little, so a slow disk gets kStopLimit,
    // whatever the deadline.
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the recordings"; }

    // Active ones, and those that failed.
    std::vector<Listed> list() const;

private:
    // One recorder. Its owners are the job and, while it runs, its fiber, which takes it with it.
    struct Job {
        explicit Job(std::string source_url) : url(std::move(source_url)), scope("dvr") {}
        std::string url;
        io::Scope scope;
        std::shared_ptr<Recorder> recorder;
        bool is_leaving = false;
    };

    void finish_left(io::Deadline deadline);
    void finish_one(const OpenRecording& recording, const std::string& name, io::Deadline deadline);
    void run(Job& job, io::Deadline deadline);
    void reap();

    media::StreamTable& streams_;
    const OptionsOf<DvrOptions>& options_;
    DvrContext context_;
    Log log_;
    std::vector<std::unique_ptr<Job>> jobs_;
    std::deque<Listed> failed_;
    bool stopping_ = false;
};

}  // namespace live::service::dvr
