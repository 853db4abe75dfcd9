// DvrService: records streams. It starts a recorder for each published stream that the settings name, and ends it with the
// stream. It never suspends in the publisher's call: a recorder writes the rest in a fiber.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "io/fibers/job_list.hpp"
#include "media/source/stream_table.hpp"
#include "service/dvr/options.hpp"
#include "service/dvr/recorder.hpp"
#include "service/service.hpp"
#include "session/common/admission.hpp"

namespace live::service::dvr {

class DvrService final : public Service {
public:
    // Failed recordings are listed until the stream is published again; only the newest are kept.
    static constexpr std::size_t kFailedMax = 64;
    // Limit of the clients' wait for the recordings of a killed process.
    static constexpr std::chrono::seconds kInterruptedLimit{5};
    // More than the limits of a write and a close.
    static constexpr std::chrono::seconds kStopLimit{45};

    struct Listed {
        std::string url;  // of the source
        bool is_active = false;
        Recorder::State state;
    };

    // Referenced objects must outlive this.
    DvrService(media::StreamTable& streams, const OptionsOf<DvrOptions>& options, DvrContext context, Log log);
    ~DvrService() override;
    DvrService(const DvrService&) = delete;
    DvrService& operator=(const DvrService&) = delete;

    // Finishes the recordings of a killed process and reports them, before a client publishes the same stream into the same file.
    // After the limit it continues in parallel with new recordings.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;

    // Does nothing for a stream that is recorded already: another publisher has taken it over.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    // A recording ends with the publisher.
    void on_stand_in(const session::ClientRequest&, const session::StreamPlan& plan) override { on_unpublished(plan.url); }

    // Ends all recordings and waits for their files. An unfinished recording is of little use, so a slow disk gets kStopLimit
    // regardless of the deadline.
    Result<void> stop(io::Deadline) override { return jobs_.stop(io::Deadline::after(kStopLimit)); }
    std::string_view name() const override { return "the recordings"; }
    void write_metrics(MetricsText& text) const override;

    // Active and failed ones.
    std::vector<Listed> list() const;

private:
    struct Job {
        template <class... Arguments>
        explicit Job(DvrService& owner, Arguments&&... arguments)
            : service(owner), recorder(std::forward<Arguments>(arguments)...) {}

        DvrService& service;
        Recorder recorder;
        const std::string& url() const { return recorder.url(); }
        void run(io::Deadline deadline) {
            recorder.run(deadline);
            service.note_end(recorder);
        }
        void end() { recorder.end(); }
    };

    void finish_interrupted(io::Deadline deadline);
    void finish_one(const OpenRecording& recording, const std::string& name, io::Deadline deadline);
    void note_end(const Recorder& recorder);

    media::StreamTable& streams_;
    const OptionsOf<DvrOptions>& options_;
    files::EventCounts events_;
    DvrContext context_;
    Log log_;
    std::deque<Listed> failed_;
    io::JobList<Job> jobs_{"dvr"};
};

}  // namespace live::service::dvr
