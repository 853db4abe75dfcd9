// DashService: the streams with MPEG-DASH. It creates a DashStream for each published stream and removes it after its disposal.
// It never suspends in the publisher's call path.
#pragma once

#include <string>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "media/source/stream_table.hpp"
#include "service/dash/dash_stream.hpp"
#include "service/dash/options.hpp"
#include "service/files/event_counts.hpp"
#include "service/files/path_claims.hpp"
#include "service/files/stream_jobs.hpp"
#include "service/segments/store.hpp"
#include "service/service.hpp"
#include "session/common/admission.hpp"

namespace live::service::dash {

class DashService final : public Service {
public:
    // Referenced objects must outlive this. `mirrors`: for `push`; optional.
    DashService(media::StreamTable& streams, const OptionsOf<DashOptions>& options, files::PathClaims& claims, Log log,
                files::FileMirrors* mirrors = nullptr);
    ~DashService() override;
    DashService(const DashService&) = delete;
    DashService& operator=(const DashService&) = delete;

    // The options at the first publish of a stream apply until its files are disposed of. A stream whose files another output has
    // claimed gets no DASH.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    // The slate is one more publisher.
    void on_stand_in(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        on_published(request, plan);
    }
    void on_unpublished(const std::string& url) override;
    // Removes finished streams.
    void on_tick() override { jobs_.reap(); }
    // Stops everything. With dash_dispose, files are deleted. Otherwise open segments are completed, and queued writes continue
    // until the deadline. Errc::timed_out if a fiber does not end.
    Result<void> stop(io::Deadline deadline) override;

    std::string_view name() const override { return "DASH"; }
    StreamHolder* memory() override { return &jobs_; }
    void write_metrics(MetricsText& text) const override;
    segments::Store& store() { return store_; }
    // Streams with DASH, including those waiting to be disposed of.
    std::size_t size() const { return jobs_.size(); }

private:
    media::StreamTable& streams_;
    const OptionsOf<DashOptions>& options_;
    files::PathClaims& claims_;
    Log log_;
    segments::Store store_;
    files::EventCounts events_;
    files::StreamJobs<DashStream> jobs_;
    files::FileMirrors* const mirrors_;
    bool stopping_ = false;
};

}  // namespace live::service::dash
