#include "service/exec/exec_service.hpp"

#include <map>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/process/process_usage.hpp"
#include "service/ffmpeg/find_program.hpp"

namespace live::service::exec {

namespace {

// Names with the time are made for each start.
Result<Command> command_now(const std::vector<std::string>& words, Variables variables, Zone zone) {
    Variables times = time_variables(std::chrono::system_clock::now(), zone);
    variables.insert(variables.begin(), std::make_move_iterator(times.begin()), std::make_move_iterator(times.end()));
    return build_command(words, variables);
}

}  // namespace

ExecService::ExecService(const OptionsOf<ExecOptions>& options, Context context, Log log, ffmpeg::SupervisorOptions supervision)
    : options_(options),
      context_(std::move(context)),
      log_(std::move(log)),
      supervision_(std::move(supervision)),
      began_(io::now()),
      reported_(began_) {
    supervision_.keyword = "EXE";
    supervision_.report_interval = {};
}

ExecService::~ExecService() = default;

void ExecService::on_published(const session::ClientRequest& request, const session::StreamPlan& plan) {
    const ExecOptions* options = options_.find(request.vhost);
    if (options == nullptr || !options->enabled || request.kind == session::ClientKind::relay_pull || programs_.is_stopping())
        return;
    // Another publisher took the stream over: its programs continue.
    if (programs_.find([&plan](const Program& program) { return program.url == plan.url; }) != nullptr)
        return;
    const std::string input = plan.vhost + "/" + request.app + "/" + request.stream;
    const Variables values = variables_of(request, plan.vhost, context_.rtmp_port());
    for (const std::vector<std::string>& words : options->publish)
        start_program(words, values, *options, plan.url, input);
}

void ExecService::start_program(const std::vector<std::string>& words, const Variables& values, const ExecOptions& options,
                                const std::string& url, const std::string& input) {
    if (const auto command = command_now(words, values, context_.zone); !command.ok()) {
        LOG_ERROR(log_, "EXE {} does not start a program: {}", input, command.error().sentence());
        return;
    }
    if (programs_.size() >= kProgramsMax) {
        LOG_ERROR(log_, "EXE {} does not start {}: {} programs are the limit", input, words.front(), kProgramsMax);
        return;
    }
    ffmpeg::SupervisorOptions supervision = supervision_;
    supervision.name = input;
    supervision.restarts_after_success = options.restart;
    auto make_child = [words, values, zone = context_.zone] {
        Command command = MUST(command_now(words, values, zone));
        io::ChildOptions child;
        child.arguments = std::move(command.arguments);
        child.arguments.front() = ffmpeg::find_program(child.arguments.front());
        child.output_path = std::move(command.output_path);
        child.error_path = std::move(command.error_path);
        child.ends_with_us = true;
        return child;
    };
    const auto started =
        programs_.start(url, input, ffmpeg::Supervisor(std::move(supervision), std::move(make_child), log_.with_id(random_id())));
    if (started.ok())
        ++started_;
    else
        LOG_ERROR(log_, "EXE {} cannot start: {}", input, started.error().text());
}

void ExecService::on_unpublished(const std::string& url) {
    programs_.end_if([&url](const Program& program) { return program.url == url; });
    programs_.reap();
}

void ExecService::on_tick() {
    if (context_.report_interval.count() == 0 || io::now() - reported_ < context_.report_interval)
        return;
    reported_ = io::now();
    std::map<std::string, std::size_t> inputs;
    programs_.for_each([&inputs](const Program& program) { ++inputs[program.input]; });
    const auto time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - began_).count();
    for (const auto& [input, programs] : inputs)
        LOG_INFO(log_, "-> EXE time={}, publish={}, input={}", time_ms, programs, input);
}

void ExecService::write_metrics(MetricsText& text) const {
    io::ProcessUsage usage;
    std::uint64_t running = 0;
    programs_.for_each([&](const Program& program) {
        const auto pid = program.work.facts().pid;
        const auto its = pid ? io::usage_of(*pid) : std::nullopt;
        running += pid ? 1 : 0;
        usage.cpu_seconds += its ? its->cpu_seconds : 0;
        usage.resident_bytes += its ? its->resident_bytes : 0;
    });
    text.family("millrace_exec_programs", MetricsText::Type::gauge, "Programs of published streams that run or will restart.")
        .sample(std::uint64_t{size()});
    text.family("millrace_exec_programs_total", MetricsText::Type::counter, "Programs that were started for published streams.")
        .sample(started_);
    text.family("millrace_exec_children", MetricsText::Type::gauge, "Running processes of these programs.").sample(running);
    text.family("millrace_exec_children_cpu_seconds", MetricsText::Type::gauge, "CPU time of these processes.")
        .sample(usage.cpu_seconds);
    text.family("millrace_exec_children_memory_bytes", MetricsText::Type::gauge, "Resident memory of these processes.")
        .sample(usage.resident_bytes);
}

}  // namespace live::service::exec
