// IngestService: the ffmpeg children that bring streams in, one for each engine of each enabled ingest. Given what the operator
// wants it starts and stops the difference, so a reload leaves alone what did not change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "io/scope.hpp"
#include "service/ffmpeg/supervisor.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/options.hpp"

namespace live::service::ingest {

// The ingests of one virtual host that is switched on.
struct IngestSet {
    IngestPlace place;
    std::vector<IngestOptions> ingests;
};

class IngestService {
public:
    static constexpr std::size_t kChildrenMax = 256;

    // `supervision` is what every child is kept by; its keyword and name are set here.
    explicit IngestService(Log log, ffmpeg::SupervisorOptions supervision = {});
    ~IngestService();
    IngestService(const IngestService&) = delete;
    IngestService& operator=(const IngestService&) = delete;

    // Ends the children that are not wanted any more, waiting for them, and starts the new ones. What cannot be started costs a
    // line in the log and nothing else. Errc::timed_out when one does not end: then nothing new was started.
    Result<void> apply(std::vector<IngestSet> wanted, io::Deadline deadline);

    // Ends all; afterwards nothing starts any more.
    Result<void> stop(io::Deadline deadline);

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

    std::vector<Plan> plan(const std::vector<IngestSet>& wanted) const;
    void start(Plan plan);

    Log log_;
    ffmpeg::SupervisorOptions supervision_;
    std::vector<std::unique_ptr<Job>> jobs_;
    bool stopping_ = false;
};

}  // namespace live::service::ingest
