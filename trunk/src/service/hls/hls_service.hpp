// HlsService: which streams have HLS, and who plays it. Hears of every published stream, gives it a StreamOutput and lets that go
// when it is disposed of; ends the sessions of players that have gone. Never suspends on the publisher's way.
#pragma once

#include <string>

#include "base/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "media/stream_table.hpp"
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
    // Between two looks for sessions that are over.
    static constexpr std::chrono::milliseconds kPollInterval{500};

    struct Parts {
        media::StreamTable& streams;
        const OptionsOf<HlsOptions>& options;
        Sessions& sessions;
        HlsEvents& events;
        files::PathClaims& claims;
        Zone zone;  // of names of files
    };

    // What is referred to outlives this.
    HlsService(const Parts& parts, Log log);
    ~HlsService() override;
    HlsService(const HlsService&) = delete;
    HlsService& operator=(const HlsService&) = delete;

    // The options count from the first publisher of a stream until its files are disposed of. A stream whose files another output
    // writes has no HLS.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;

    // A fiber that looks after sessions and what is over.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends everything: what was begun is made a fragment, and what waits is written as far as the time goes. Errc::timed_out when
    // a fiber does not end.
    Result<void> stop(io::Deadline deadline) override;

    std::string_view name() const override { return "HLS"; }
    StreamHolder* memory() override { return &jobs_; }
    const FileIndex& index() const { return index_; }
    // Streams with HLS, those that wait to be disposed of included.
    std::size_t size() const { return jobs_.size(); }

private:
    void run(io::Deadline deadline);

    const Parts parts_;
    Log log_;
    FileIndex index_;
    files::StreamJobs<StreamOutput> jobs_;
    bool stopping_ = false;
};

}  // namespace live::service::hls
