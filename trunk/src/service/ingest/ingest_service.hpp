// IngestService: the ffmpeg child processes that publish streams here, one per engine of each enabled ingest. It starts and stops
// only the difference to the wanted set, so a reload leaves unchanged ingests alone.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "io/job_list.hpp"
#include "service/ffmpeg/supervisor.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/options.hpp"
#include "service/service.hpp"

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

protected:
    ~WantedIngests() = default;
};

class IngestService final : public Service {
public:
    // Time for unwanted children to end.
    static constexpr std::chrono::seconds kEndLimit{5};
    static constexpr std::size_t kChildrenMax = 256;

    // `wanted` outlives this. `supervision` applies to every child; its keyword and name are set here.
    IngestService(const WantedIngests& wanted, Log log, ffmpeg::SupervisorOptions supervision = {});
    ~IngestService() override;
    IngestService(const IngestService&) = delete;
    IngestService& operator=(const IngestService&) = delete;

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends unwanted children, waiting for them, and starts the new ones. A child that cannot be started only costs a log line. If
    // one does not end, nothing new is started, and the log says so.
    void apply(io::Deadline deadline) override;

    // Both end all children; nothing starts afterwards.
    Result<void> close(io::Deadline deadline) override { return stop(deadline); }
    Result<void> stop(io::Deadline deadline) override { return children_.stop(deadline); }
    std::string_view name() const override { return "the ingests"; }

    // Children kept running.
    std::size_t size() const { return children_.size(); }

private:
    struct Plan {
        IngestPlace place;
        IngestOptions ingest;
        ffmpeg::EngineOptions engine;
        // All relevant properties as words, to detect changes.
        std::vector<std::string> identity;
    };
    struct Child {
        Child(std::vector<std::string> words, ffmpeg::Supervisor its) : identity(std::move(words)), supervisor(std::move(its)) {}

        std::vector<std::string> identity;
        ffmpeg::Supervisor supervisor;
        void run(io::Deadline deadline) { supervisor.run(deadline); }
    };

    Result<void> change(std::vector<Plan> plans, io::Deadline deadline);
    std::vector<Plan> plan(const std::vector<IngestSet>& wanted) const;
    void start_child(Plan plan);

    const WantedIngests& wanted_;
    Log log_;
    ffmpeg::SupervisorOptions supervision_;
    io::JobList<Child> children_{"ingest"};
};

}  // namespace live::service::ingest
