// HlsService: the streams with HLS and the sessions of their players. It creates a StreamOutput for each published stream,
// removes it after its disposal, and ends the sessions of players that have left. It never suspends in the publisher's call path.
#pragma once

#include <string>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "media/source/stream_table.hpp"
#include "service/files/event_counts.hpp"
#include "service/files/path_claims.hpp"
#include "service/files/sessions.hpp"
#include "service/files/stream_jobs.hpp"
#include "service/hls/file_index.hpp"
#include "service/hls/options.hpp"
#include "service/hls/stream_output.hpp"
#include "service/service.hpp"
#include "session/common/admission.hpp"

namespace live::service::hls {

using files::Sessions;

class HlsService final : public Service {
public:
    // Interval between checks for expired sessions.
    static constexpr std::chrono::milliseconds kPollInterval{500};

    struct Parts {
        media::StreamTable& streams;
        const OptionsOf<HlsOptions>& options;
        Sessions& sessions;
        HlsEvents& events;
        files::PathClaims& claims;
        Zone zone;                              // for file names
        files::FileMirrors* mirrors = nullptr;  // for `push`; optional
    };

    // Referenced objects must outlive this.
    HlsService(const Parts& parts, Log log);
    ~HlsService() override;
    HlsService(const HlsService&) = delete;
    HlsService& operator=(const HlsService&) = delete;

    // The options at the first publish of a stream apply until its files are disposed of. A stream whose files another output has
    // claimed gets no HLS.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    // The slate is one more publisher.
    void on_stand_in(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        on_published(request, plan);
    }
    void on_unpublished(const std::string& url) override;

    // Starts the fiber that expires sessions and reaps finished streams.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Stops everything: open segments are completed, and queued writes continue until the deadline. Errc::timed_out if a fiber
    // does not end.
    Result<void> stop(io::Deadline deadline) override;

    std::string_view name() const override { return "HLS"; }
    StreamHolder* memory() override { return &jobs_; }
    void write_metrics(MetricsText& text) const override;
    const FileIndex& index() const { return index_; }
    // Streams with HLS, including those waiting to be disposed of.
    std::size_t size() const { return jobs_.size(); }

private:
    void run(io::Deadline deadline);

    const Parts parts_;
    Log log_;
    FileIndex index_;
    files::EventCounts events_;
    files::StreamJobs<StreamOutput> jobs_;
    bool stopping_ = false;
};

}  // namespace live::service::hls
