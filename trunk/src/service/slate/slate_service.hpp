// SlateService: the slates of virtual hosts with publish { slate; }. A stream that is pulled from another server has none here:
// its origin shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "io/fibers/job_list.hpp"
#include "media/source/stream_table.hpp"
#include "service/ingest/streams_on_demand.hpp"
#include "service/service.hpp"
#include "service/slate/stream_slate.hpp"

namespace live::service::slate {

class SlateService final : public Service, public ingest::StreamsOnDemand {
public:
    // Streams that have a slate.
    static constexpr std::size_t kStreamsMax = 1024;
    // Time for the first frame of a stream that nobody publishes.
    static constexpr std::chrono::seconds kFetchLimit{15};

    // All outlive this.
    struct Context {
        media::StreamTable& streams;
        session::StreamEvents& events;
        const OptionsOf<media::PublishOptions>& options;
        // The options of all virtual hosts, for the check at the start.
        std::function<std::vector<media::PublishOptions>()> all;
        // Whether this server is one of several workers or nodes.
        bool is_one_of_several = false;
    };
    SlateService(Context context, Log log);

    std::string_view name() const override { return "the slates"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void apply(io::Deadline deadline) override;
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    Result<void> close(io::Deadline deadline) override { return jobs_.stop(deadline); }
    Result<void> stop(io::Deadline deadline) override { return jobs_.stop(deadline); }
    void write_metrics(MetricsText& text) const override;

    // StreamsOnDemand: every stream of a virtual host with `always`.
    bool has(const std::string& url) const override;
    Result<void> fetch(const session::StreamPlan& plan, io::Deadline deadline) override;

    // Whether players of the source get its slate.
    bool is_shown(const std::string& url) const;

private:
    StreamSlate* find(const std::string& url) const;
    Result<void> start_slate(const session::ClientRequest& request, const session::StreamPlan& plan);
    void check_files(io::Deadline deadline);

    const Context context_;
    Log log_;
    SlateCache cache_;
    SlateTotals totals_;
    io::JobList<StreamSlate> jobs_{"slate"};
};

}  // namespace live::service::slate
