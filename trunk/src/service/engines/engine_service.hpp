// EngineService: the engines of transcode {} for the published streams: starts those of the scopes that contain a stream when it
// is published here, and ends them with it. A stream that is pulled from another server or worker has none; one that an engine of
// this server publishes only those of a scope with its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "io/fibers/job_list.hpp"
#include "media/source/stream_table.hpp"
#include "service/engines/engine_job.hpp"
#include "service/engines/options.hpp"
#include "service/ingest/demand.hpp"
#include "service/ingest/streams_on_demand.hpp"
#include "service/service.hpp"
#include "session/rtc/plain_video.hpp"

namespace live::service::engines {

class EngineService final : public Service, public ingest::StreamsOnDemand, public session::rtc::PlainVideo {
public:
    // Engines of all streams.
    static constexpr std::size_t kEnginesMax = 256;
    // Time for the first media of a stream on demand.
    static constexpr std::chrono::seconds kFetchLimit{10};
    static constexpr std::chrono::seconds kStopLimit{8};
    // Time for the first video of a version without B-frames.
    static constexpr std::chrono::seconds kPlainLimit{6};

    struct Context {
        PublishContext publish;
        std::function<Place()> place;
        // The url of the source that a publisher of this stream fills; empty if no virtual host serves it.
        std::function<std::string(const session::ClientRequest&)> url_of;
    };
    // `options` outlives this.
    EngineService(const OptionsOf<std::vector<TranscodeOptions>>& options, Context context, Log log, EngineTiming timing = {});

    std::string_view name() const override { return "the transcoding engines"; }
    void apply(io::Deadline deadline) override;
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    void on_tick() override;
    // Children may take longer than the deadline, and are killed then.
    Result<void> stop(io::Deadline) override { return jobs_.stop(io::Deadline::after(kStopLimit)); }
    void write_metrics(MetricsText& text) const override;

    // StreamsOnDemand: the streams that engines make on demand.
    bool has(const std::string& url) const override { return demands_.contains(url); }
    Result<void> fetch(const session::StreamPlan& plan, io::Deadline deadline) override;

    // PlainVideo: an engine that publishes under a URL that no client can name, while WebRTC players watch it.
    Result<Ref<media::Source>> fetch_plain(const session::ClientRequest& player, const session::StreamPlan& plan,
                                           io::Deadline deadline) override;

    struct Listed {
        std::string url;  // of the source
        std::string vhost;
        std::string engine;
        std::string output;  // without secrets
        EngineJob::State state;
        std::optional<ffmpeg::MediaChild::State> child;  // while it runs
    };
    std::vector<Listed> list() const;

private:
    struct Published {
        std::string vhost;  // as the client has named it
        Input input;
        Origin origin = Origin::client;
        Log log;                    // with the id of the stream's publisher
        std::vector<Engine> alone;  // those that have failed in an ffmpeg with others
    };
    // The engines of one ffmpeg.
    struct Group {
        std::vector<Engine> engines;
        std::vector<std::string> own_urls;
        bool is_shared = false;
    };
    // Sums over engines that have ended.
    struct Totals {
        std::uint64_t starts = 0;
        std::uint64_t dropped = 0;
        RestartCounts restarts{};

        void add(const EngineJob& job);
    };

    std::vector<Engine> wanted_for(const Published& published) const;
    Result<std::shared_ptr<ingest::Demand>> start_plain(const session::ClientRequest& player, const session::StreamPlan& plan,
                                                        const session::StreamPlan& hidden);
    void note_viewers();
    void start_missing(const std::string& url, const Published& published);
    std::optional<Group> group_of(const std::string& url, const Published& published, const Engine& engine) const;
    void start_group(const std::string& url, const Published& published, Group group);
    // Separates engines that have failed from those that share their ffmpeg.
    void separate_failed();
    std::size_t engine_count() const;
    void end_if(const std::function<bool(const EngineJob&)>& is_it);
    // Forgets the demands of engines that have ended.
    void forget_demands();
    void report();

    const OptionsOf<std::vector<TranscodeOptions>>& options_;
    const Context context_;
    Log log_;
    const EngineTiming timing_;
    std::map<std::string, Published> published_;  // by the url of the source
    ffmpeg::StartLimits limits_;                  // by the engine and its stream
    // By the url of the stream that the engine makes. Owners: this, the job and waiting clients.
    std::map<std::string, std::shared_ptr<ingest::Demand>> demands_;
    const TimePoint began_;
    TimePoint reported_;
    Totals ended_;
    io::JobList<EngineJob> jobs_{"engine"};
};

}  // namespace live::service::engines
