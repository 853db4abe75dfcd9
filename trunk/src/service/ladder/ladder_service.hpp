// LadderService: the ladders of the published streams of virtual hosts with ladder {}. It starts one with each stream and ends it
// with the stream.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "io/fibers/job_list.hpp"
#include "media/source/stream_table.hpp"
#include "service/ffmpeg/start_limit.hpp"
#include "service/ladder/ladder.hpp"
#include "service/ladder/options.hpp"
#include "service/service.hpp"

namespace live::service::ladder {

class LadderService final : public Service {
public:
    static constexpr std::size_t kLaddersMax = 256;
    static constexpr std::chrono::seconds kStopLimit{8};

    // The folder of the children's logs; may be empty, for none.
    using LogFolder = std::function<std::string()>;

    // Both outlive this.
    LadderService(media::StreamTable& streams, const OptionsOf<LadderOptions>& options, LogFolder log_folder, Log log,
                  LadderTiming timing = {})
        : streams_(streams), options_(options), log_folder_(std::move(log_folder)), log_(std::move(log)), timing_(timing) {}

    std::string_view name() const override { return "the ladders"; }
    // Another node or worker makes the renditions of a stream that is relayed from there.
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    void on_tick() override;
    // Children are killed. On a busy machine they take longer than the deadline to end.
    Result<void> stop(io::Deadline) override { return jobs_.stop(io::Deadline::after(kStopLimit)); }

    struct Listed {
        std::string url;  // of the source
        Ladder::State state;
        std::optional<ffmpeg::MediaChild::State> child;  // while it runs
    };
    std::vector<Listed> list() const;

    void write_metrics(MetricsText& text) const override;

private:
    media::StreamTable& streams_;
    const OptionsOf<LadderOptions>& options_;
    const LogFolder log_folder_;
    Log log_;
    const LadderTiming timing_;
    ffmpeg::StartLimits limits_;      // by the url of the source
    std::uint64_t ended_starts_ = 0;  // of ladders that have ended
    std::uint64_t ended_dropped_ = 0;
    io::JobList<Ladder> jobs_{"ladder"};
};

}  // namespace live::service::ladder
