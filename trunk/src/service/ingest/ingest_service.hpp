// IngestService: the ffmpeg children that bring streams in, one for each engine of each enabled ingest. Given what the operator
// wants it starts and stops the difference, so a reload leaves alone what did not change.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "io/scope.hpp"
#include "service/ffmpeg/supervisor.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/options.hpp"
#include "service/service.hpp"

namespace live::service::ingest {

// The ingests of one virtual host that is switched on.
struct IngestSet {
    IngestPlace place;
    std::vector<IngestOptions> ingests;
};

// What is to run, from the settings of the moment.
class WantedIngests {
public:
    virtual std::vector<IngestSet> wanted() const = 0;

protected:
    ~WantedIngests() = default;
};

class IngestService final : public Service {
public:
    // For children that are not wanted any more.
    static constexpr std::chrono::seconds kEndLimit{5};
    static constexpr std::size_t kChildrenMax = 256;

    // `wanted` outlives this. `supervision` is what every child is kept by; its keyword and name are set here.
    IngestService(const WantedIngests& wanted, Log log, ffmpeg::SupervisorOptions supervision = {});
    ~IngestService() override;
    IngestService(const IngestService&) = delete;
    IngestService& operator=(const IngestService&) = delete;

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends the children that are not wanted any more, waiting for them, and starts the new ones. What cannot be started costs a
    // line in the log and nothing else. When one does not end nothing new is started, and the log says so.
    void apply(io::Deadline deadline) override;

    // Both end all; afterwards nothing starts any more.
    Result<void> close(io::Deadline deadline) override { return stop(deadline); }
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the ingests"; }

    // Children that are kept running.
    std::size_t size() const { return jobs_.size(); }

private:
    struct Plan {
        IngestPlace place;
        IngestOptions ingest;
        ffmpeg::EngineOptions engine;
        // Everything that matters about it as words, to tell whether it changed.
        std::vector<std::string> identity;
    };
    struct Job {
        explicit Job(std::vector<std::string> words) : identity(std::move(words)), scope("ingest") {}
        std::vector<std::string> identity;
        io::Scope scope;
    };

    Result<void> change(std::vector<Plan> plans, io::Deadline deadline);
    std::vector<Plan> plan(const std::vector<IngestSet>& wanted) const;
    void start_child(Plan plan);

    const WantedIngests& wanted_;
    Log log_;
    ffmpeg::SupervisorOptions supervision_;
    std::vector<std::unique_ptr<Job>> jobs_;
    bool stopping_ = false;
};

}  // namespace live::service::ingest
