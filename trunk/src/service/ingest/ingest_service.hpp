// IngestService: what publishes streams here from elsewhere, one per engine of each enabled ingest: ffmpeg child processes, and
// pulls of srt:// and rtsp:// inputs, which this server makes itself. It starts and stops only the difference to the wanted set,
// so a reload leaves unchanged ingests alone.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/job_list.hpp"
#include "service/ffmpeg/supervisor.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/native_pull.hpp"
#include "service/ingest/options.hpp"
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

protected:
    ~WantedIngests() = default;
};

class IngestService final : public Service {
public:
    // Time for unwanted children to end.
    static constexpr std::chrono::seconds kEndLimit{5};
    static constexpr std::size_t kChildrenMax = 256;

    // nullptr: ffmpeg pulls inputs of this protocol.
    struct Diallers {
        session::srt::Dialler* srt = nullptr;
        session::rtsp::Dialler* rtsp = nullptr;
    };
    // `wanted` and the diallers outlive this. `supervision` applies to every child; its keyword and name are set here.
    IngestService(const WantedIngests& wanted, Diallers diallers, Log log, ffmpeg::SupervisorOptions supervision = {});
    ~IngestService() override;
    IngestService(const IngestService&) = delete;
    IngestService& operator=(const IngestService&) = delete;

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends unwanted children, waiting for them, and starts the new ones. A child that cannot be started only costs a log line. If
    // one does not end, nothing new is started, and a warning is logged.
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
    using Work = std::variant<ffmpeg::Supervisor, NativePull>;
    struct Child {
        Child(std::vector<std::string> words, Work its) : identity(std::move(words)), work(std::move(its)) {}

        std::vector<std::string> identity;
        Work work;
        void run(io::Deadline deadline) {
            std::visit([deadline](auto& one) { one.run(deadline); }, work);
        }
    };

    Result<void> change(std::vector<Plan> plans, io::Deadline deadline);
    std::vector<Plan> plan(const std::vector<IngestSet>& wanted) const;
    void start_child(Plan plan);

    std::optional<Work> native_work_for(const Plan& plan, const NativePull::Timing& timing, const Log& log);
    Work work_for(Plan plan);

    const WantedIngests& wanted_;
    const Diallers diallers_;
    Log log_;
    ffmpeg::SupervisorOptions supervision_;
    io::JobList<Child> children_{"ingest"};
};

}  // namespace live::service::ingest
