// DashService: which streams have MPEG-DASH. Hears of every published stream, gives it a DashStream and lets that go when it is
// disposed of. Never suspends on the publisher's way.
#pragma once

#include <string>

#include "base/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "media/stream_table.hpp"
#include "service/dash/dash_stream.hpp"
#include "service/dash/options.hpp"
#include "service/files/path_claims.hpp"
#include "service/files/stream_jobs.hpp"
#include "service/segments/store.hpp"
#include "service/service.hpp"
#include "session/common/admission.hpp"

namespace live::service::dash {

class DashService final : public Service {
public:
    // What is referred to outlives this.
    DashService(media::StreamTable& streams, const OptionsOf<DashOptions>& options, files::PathClaims& claims, Log log);
    ~DashService() override;
    DashService(const DashService&) = delete;
    DashService& operator=(const DashService&) = delete;

    // The options count from the first publisher of a stream until its files are disposed of. A stream whose files another output
    // writes has no DASH.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    // Lets go of what is over.
    void on_tick() override { jobs_.reap(); }
    // Ends everything: files are deleted where dash_dispose says so, else what was begun is made a segment, and what waits is
    // written as far as the time goes. Errc::timed_out when a fiber does not end.
    Result<void> stop(io::Deadline deadline) override;

    std::string_view name() const override { return "DASH"; }
    StreamHolder* memory() override { return &jobs_; }
    const segments::Store& store() const { return store_; }
    // Streams with DASH, those that wait to be disposed of included.
    std::size_t size() const { return jobs_.size(); }

private:
    media::StreamTable& streams_;
    const OptionsOf<DashOptions>& options_;
    files::PathClaims& claims_;
    Log log_;
    segments::Store store_;
    files::StreamJobs<DashStream> jobs_;
    bool stopping_ = false;
};

}  // namespace live::service::dash
