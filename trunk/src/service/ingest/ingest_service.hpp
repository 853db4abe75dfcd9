// IngestService: what publishes streams here from elsewhere, one per engine of each enabled ingest: ffmpeg child processes, and
// pulls of srt:// and rtsp:// inputs, which this server makes itself, always or on demand. It starts and stops only the
// difference to the wanted set, so a reload leaves unchanged ingests alone.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/job_list.hpp"
#include "io/tls/tls_context.hpp"
#include "media/source/stream_table.hpp"
#include "service/ffmpeg/supervisor.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/ingest_facts.hpp"
#include "service/ingest/native_pull.hpp"
#include "service/ingest/options.hpp"
#include "service/ingest/streams_on_demand.hpp"
#include "service/service.hpp"
#include "session/rtsp/pull/dialler.hpp"
#include "session/srt/call/dialler.hpp"

namespace live::service::ingest {

// The ingests of one enabled virtual host.
struct IngestSet {
    IngestPlace place;
    std::vector<IngestOptions> ingests;
};

// The ingests to run, from the current settings.
class WantedIngests {
public:
    virtual std::vector<IngestSet> wanted() const = 0;
    // The url of the source that a publisher of this stream fills; empty if no virtual host serves it.
    virtual std::string url_of(const session::ClientRequest& stream) const = 0;

protected:
    ~WantedIngests() = default;
};

class IngestService final : public Service, public StreamsOnDemand {
public:
    // Time for unwanted children to end.
    static constexpr std::chrono::seconds kEndLimit{5};
    // ffmpeg processes.
    static constexpr std::size_t kChildrenMax = 256;
    static constexpr std::size_t kIngestsMax = 10'000;
    // Time for the first media of a stream on demand.
    static constexpr std::chrono::seconds kFetchLimit{10};
    static constexpr std::chrono::milliseconds kNativeRetryFirst{1'000};

    // All outlive this. nullptr: ffmpeg pulls inputs of this protocol; TLS is not available.
    struct Links {
        media::StreamTable& streams;
        session::srt::Dialler* srt = nullptr;
        session::rtsp::Dialler* rtsp = nullptr;
        io::TlsContext* tls = nullptr;
        // Only the first of several workers has the ingests that always run.
        bool runs_all = true;
    };
    // `wanted` outlives this. `supervision` applies to every child; its keyword and name are set here.
    IngestService(const WantedIngests& wanted, const Links& links, Log log, ffmpeg::SupervisorOptions supervision = {});
    ~IngestService() override;
    IngestService(const IngestService&) = delete;
    IngestService& operator=(const IngestService&) = delete;

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends unwanted children, waiting for them, and starts the new ones. A child that cannot be started only costs a log line. If
    // one does not end, nothing new is started, and a warning is logged.
    void apply(io::Deadline deadline) override;
    void on_tick() override;

    // Both end all children; nothing starts afterwards.
    Result<void> close(io::Deadline deadline) override { return stop(deadline); }
    Result<void> stop(io::Deadline deadline) override { return children_.stop(deadline); }
    std::string_view name() const override { return "the ingests"; }
    void write_metrics(MetricsText& text) const override;

    // StreamsOnDemand
    bool has(const std::string& url) const override { return demands_.contains(url); }
    Result<void> fetch(const session::StreamPlan& plan, io::Deadline deadline) override;

    // Children kept running.
    std::size_t size() const { return children_.size(); }
    std::vector<IngestFacts> list() const;

private:
    struct Plan {
        IngestPlace place;
        IngestOptions ingest;
        ffmpeg::EngineOptions engine;
        // All relevant properties, to detect changes.
        std::string identity;
        std::string url;  // of the source; empty if the output is no stream of this server
        bool is_native = false;
    };
    using Work = std::variant<ffmpeg::Supervisor, NativePull>;
    struct Child {
        Child(Plan its_plan, Work its) : plan(std::move(its_plan)), work(std::move(its)) {}

        Plan plan;
        Work work;
        void run(io::Deadline deadline) {
            std::visit([deadline](auto& one) { one.run(deadline); }, work);
        }
    };
    // Sums over ingests.
    struct Totals {
        std::uint64_t restarts = 0;
        std::uint64_t received_bytes = 0;
        std::uint64_t packets = 0;
        std::uint64_t lost_packets = 0;

        Totals& operator+=(const IngestFacts& facts);
    };
    struct Native {
        NativePull::Call call;
        std::string label;
        session::ClientRequest to;
    };

    Result<void> change(std::vector<Plan> plans, io::Deadline deadline);
    std::vector<Plan> plan(const std::vector<IngestSet>& wanted) const;
    void add_plans(const IngestSet& set, const IngestOptions& ingest, std::vector<Plan>& plans) const;
    void start_child(Plan plan);

    std::optional<Native> native_of(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine, const IngestPlace& place,
                                    io::TlsContext* tls) const;
    io::TlsContext* tls_for(const IngestOptions& ingest);
    Work work_for(const Plan& plan);
    Work native_work_for(const Plan& plan, Native native, const Log& log);
    IngestFacts facts_of(const Child& child) const;
    std::size_t processes() const;
    std::string tracks_of(const std::string& url) const;

    const WantedIngests& wanted_;
    const Links links_;
    Log log_;
    ffmpeg::SupervisorOptions supervision_;
    std::unique_ptr<io::TlsContext> unverified_;  // of cameras whose certificate is not checked
    io::JobList<Child> children_{"ingest"};
    std::unordered_map<std::string, std::shared_ptr<Demand>> demands_;  // by url; owners: this, pulls, waiting clients
    Totals ended_;
};

}  // namespace live::service::ingest
