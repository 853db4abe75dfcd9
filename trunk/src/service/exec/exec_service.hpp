// ExecService: runs the programs of `exec {}` for published streams: starts them when a stream is published here, restarts those
// that fail, and stops them when it ends. A stream that is pulled from another server or worker starts none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/text/variables.hpp"
#include "io/fibers/job_list.hpp"
#include "service/exec/command.hpp"
#include "service/exec/options.hpp"
#include "service/ffmpeg/supervisor.hpp"
#include "service/service.hpp"

namespace live::service::exec {

class ExecService final : public Service {
public:
    // Programs of all streams. A program that publishes a stream, which starts it again, ends here.
    static constexpr std::size_t kProgramsMax = 256;
    static constexpr std::chrono::seconds kKillLimit{5};

    // The server's properties for the commands.
    struct Context {
        // The first RTMP listener's port, for [port] and [url].
        std::function<std::uint16_t()> rtmp_port;
        Zone zone = Zone::local;
        std::chrono::milliseconds report_interval = 10s;
    };
    // `options` outlives this. `supervision` applies to every program; its keyword and name are set here.
    ExecService(const OptionsOf<ExecOptions>& options, Context context, Log log, ffmpeg::SupervisorOptions supervision = {});
    ~ExecService() override;
    ExecService(const ExecService&) = delete;
    ExecService& operator=(const ExecService&) = delete;

    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    // Programs end with the publisher.
    void on_stand_in(const session::ClientRequest&, const session::StreamPlan& plan) override { on_unpublished(plan.url); }
    void on_tick() override;

    // Ends all programs; none starts afterwards. One that ignores the request may take longer than the deadline, and is killed.
    Result<void> stop(io::Deadline) override { return programs_.stop(io::Deadline::after(supervision_.stop_limit + kKillLimit)); }
    std::string_view name() const override { return "the programs of streams"; }
    void write_metrics(MetricsText& text) const override;

    // Programs of published streams, including those that wait to be restarted.
    std::size_t size() const { return programs_.size(); }

private:
    struct Program {
        Program(std::string of, std::string its_input, ffmpeg::Supervisor supervisor)
            : url(std::move(of)), input(std::move(its_input)), work(std::move(supervisor)) {}

        std::string url;    // of the source
        std::string input;  // "vhost/app/stream"
        ffmpeg::Supervisor work;
        void run(io::Deadline deadline) { work.run(deadline); }
    };

    void start_program(const std::vector<std::string>& words, const Variables& values, const ExecOptions& options,
                       const std::string& url, const std::string& input);

    const OptionsOf<ExecOptions>& options_;
    Context context_;
    Log log_;
    ffmpeg::SupervisorOptions supervision_;
    TimePoint began_;
    TimePoint reported_;
    std::uint64_t started_ = 0;
    io::JobList<Program> programs_{"exec"};
};

}  // namespace live::service::exec
