#include "bench/load/load_run.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "bench/load/load_result.hpp"
#include "bench/measure/delay_stamp.hpp"
#include "io/fibers/loop.hpp"
#include "io/process/signal_pipe.hpp"

namespace live::bench {
namespace {

constexpr std::chrono::seconds kStopLimit{10};
constexpr int kTaskFailed = 1;
constexpr int kCannotRun = 2;
constexpr std::string_view kFastWarning =
    "*** WARNING ***\n"
    "sb_rtmp_load_fast discards all data after the start of the play without parsing it:\n"
    "no pings are answered, nothing is measured but bytes, and an ended stream looks like a silent one.\n"
    "Use sb_rtmp_load unless the load itself is what limits a test.\n";

void say(std::FILE* out, std::string_view text) {
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), out));
    std::fflush(out);
}

// The errno for the log, derived from the code because the error does not have it.
int errno_of(Errc code) {
    switch (code) {
        case Errc::timed_out: return ETIMEDOUT;
        case Errc::closed: return ECONNRESET;
        case Errc::unauthenticated:
        case Errc::denied: return EACCES;
        case Errc::not_found: return ENOENT;
        case Errc::limit: return ENOBUFS;
        case Errc::malformed:
        case Errc::need_more: return EPROTO;
        case Errc::unsupported: return ENOTSUP;
        case Errc::cancelled:
        case Errc::conflict:
        case Errc::system: break;
    }
    return EIO;
}

}  // namespace

LoadRun::LoadRun(Tool tool, LoadOptions options, MakeTask make_task, Service service)
    : console_(options.driven ? stderr : stdout), make_task_(std::move(make_task)), service_(std::move(service)) {
    context_.tool = tool;
    context_.options = std::move(options);
    context_.random.seed(static_cast<std::minstd_rand::result_type>(wall_clock().count()));
    const auto buffer = std::chrono::duration_cast<std::chrono::milliseconds>(context_.options.buffer);
    meters_.assign(context_.options.clients, ClientMeter(buffer));
    context_.totals.clients = context_.options.clients;
    if (context_.options.resume)
        context_.dialer.resume_sessions();
    if (context_.options.driven) {
        const auto side = publishes(tool, context_.options) ? LoadWindow::Side::publishes : LoadWindow::Side::plays;
        context_.frames.emplace(context_.options.clients);
        window_ = std::make_unique<LoadWindow>(context_.totals, meters_, *context_.frames, side);
        driver_ = std::make_unique<LoadDriver>(*window_, stop_);
    }
}

int LoadRun::run() {
    if (const auto worked = work(); !worked.ok()) {
        say(stderr, fmt::format("{}: {}\n", name_of(context_.tool), worked.error().sentence()));
        return kCannotRun;
    }
    return context_.totals.failed + context_.totals.sub_failed > 0 ? kTaskFailed : EXIT_SUCCESS;
}

Result<void> LoadRun::work() {
    TRY(open_files());
    const auto loop = TRY(io::Loop::create({.fibers_max = LoadOptions::kClientsMax + 64}));
    began_ = second_began_ = io::now();
    io::Scope services("services");
    TRY(services.start("signals", [this](io::Deadline forever) { watch_signals(forever); }));
    TRY(services.start("reports", [this](io::Deadline forever) { report_main(forever); }));
    TRY(services.start("drain", [this](io::Deadline forever) { context_.drain.run(forever); }));
    if (driver_ != nullptr)
        TRY(services.start("driver", [this](io::Deadline forever) { driver_->run(forever); }));
    if (service_)
        TRY(services.start("service", service_));
    {
        io::Scope clients("clients");
        Result<void> started;
        for (std::uint64_t i = 0; started.ok() && i < context_.options.clients; ++i) {
            ++running_;
            started = clients.start("client", [this, i](io::Deadline forever) { client_main(i, forever); });
        }
        if (started.ok()) {
            const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.options.duration);
            wait_for_stop(limit.count() > 0 ? io::Deadline::at(began_ + limit) : io::Deadline::never());
        }
        context_.totals.alive_at_stop = context_.totals.alive;
        report();
        TRY(clients.stop(io::Deadline::after(kStopLimit)));
        TRY(std::move(started));
    }
    TRY(services.stop(io::Deadline::after(kStopLimit)));
    if (driver_ != nullptr)
        driver_->finish();
    return write_result();
}

Result<void> LoadRun::open_files() {
    const std::string& name = context_.options.csv;
    if (name.empty())
        return {};
    csv_.reset(std::fopen(name.c_str(), "we"));
    if (csv_ == nullptr)
        return system_error(fmt::format("opening {}", name), errno);
    say(csv_.get(), kCsvHeader);
    return {};
}

void LoadRun::wait_for_stop(io::Deadline deadline) { static_cast<void>(io::wait(stop_, deadline)); }

void LoadRun::watch_signals(io::Deadline deadline) {
    constexpr std::array kSignals = {SIGINT, SIGTERM};
    const auto pipe = io::SignalPipe::create(kSignals);
    if (pipe.ok() && (*pipe)->next_signal(deadline).ok())
        stop_.raise();
}

void LoadRun::client_main(std::uint64_t index, io::Deadline deadline) {
    LoadClient client{context_, meters_[index], index, url_of_client(context_.options.url, index),
                      Log(console_, std::to_string(index))};
    const LoadOptions& options = context_.options;
    LOG_INFO(client.log, "create thread for task #{} success", index);
    const auto sleep =
        options.ramp > 0
            ? std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(static_cast<double>(index) / options.ramp))
            : context_.random_sleep(options.startup);
    if (options.ramp <= 0)
        LOG_INFO(client.log, "start random sleep {}ms", std::chrono::duration_cast<std::chrono::milliseconds>(sleep).count());
    bool goes_on = io::sleep(deadline.sooner(io::Deadline::at(began_ + sleep))).ok();
    if (goes_on)
        ++context_.totals.started;
    const auto task = make_task_();
    for (std::uint64_t done = 0; goes_on && (options.repeat == 0 || done < options.repeat); ++done)
        goes_on = run_task(client, *task, deadline);
    client.meter.end_task(io::now(), false);
    // A driven load ends at the command of its driver.
    if (--running_ == 0 && driver_ == nullptr)
        stop_.raise();
}

// Whether the client should continue.
bool LoadRun::run_task(LoadClient& client, LoadTask& task, io::Deadline deadline) {
    LoadTotals& totals = context_.totals;
    const TimePoint began = io::now();
    ++totals.tasks;
    ++totals.alive;
    if (!task.is_continued() || !client.meter.in_task())
        client.meter.begin_task(began);
    const auto ran = task.run(client, deadline);
    --totals.alive;
    totals.open -= std::exchange(client.is_open, false) ? 1 : 0;
    if (!ran.ok() && ran.code() == Errc::cancelled)
        return false;
    std::chrono::nanoseconds pause{};
    if (ran.ok()) {
        ++totals.finished;
        totals.task_time += io::now() - began;
        if (!task.is_continued())
            client.meter.end_task(io::now(), false);
        pause = task.pause(context_);
    } else {
        ++totals.failed;
        client.meter.end_task(io::now(), true);
        console_.write(LogLevel::error, client.log.id(), fmt::format("task #{} failed: {}", client.index, ran.error().text()),
                       errno_of(ran.code()));
        pause = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.options.error);
    }
    return io::sleep(deadline.sooner(io::Deadline::after(pause))).ok();
}

void LoadRun::report_main(io::Deadline deadline) {
    report();
    const auto period = std::chrono::duration_cast<std::chrono::nanoseconds>(context_.options.summary);
    TimePoint next_report = began_ + period;
    for (std::uint64_t second = 1;; ++second) {
        const TimePoint next_second = began_ + std::chrono::seconds(second);
        while (next_report <= next_second) {
            if (!io::sleep(deadline.sooner(io::Deadline::at(next_report))).ok())
                return;
            report();
            next_report += period;
        }
        if (!io::sleep(deadline.sooner(io::Deadline::at(next_second))).ok())
            return;
        on_second(second);
    }
}

void LoadRun::on_second(std::uint64_t second) {
    LoadTotals& totals = context_.totals;
    const TimePoint now = io::now();
    if (csv_ != nullptr) {
        const std::string row = csv_row(second, totals, second_before_, now - second_began_);
        static_cast<void>(std::fwrite(row.data(), 1, row.size(), csv_.get()));
    }
    const bool is_starting = second_before_.started < totals.clients;
    if (is_starting && (context_.options.progress || ::isatty(STDERR_FILENO) == 1))
        say(stderr, progress_line(totals));
    totals.delays_second.clear();
    second_before_ = totals;
    second_began_ = now;
    std::fflush(stdout);
}

void LoadRun::report() { say(stderr, report_line(context_.totals, wall_clock(), ::getpid(), io::now() - began_)); }

Result<void> LoadRun::write_result() {
    const LoadResult result(context_.tool, context_.options, context_.totals, meters_, io::now() - began_);
    say(stderr, result.text());
    const std::string& name = context_.options.json;
    if (name == "-") {
        say(stdout, result.json());
    } else if (!name.empty()) {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "we"), &std::fclose);
        if (file == nullptr)
            return system_error(fmt::format("opening {}", name), errno);
        say(file.get(), result.json());
    }
    std::fflush(stdout);
    return {};
}

int load_main(Tool tool, int count, char** arguments, const std::function<Result<LoadRun::MakeTask>(const LoadOptions&)>& prepare,
              const LoadRun::Service& service) {
    const std::vector<std::string_view> texts(arguments + 1, arguments + count);
    const auto refuse = [tool](const Error& error) {
        say(stderr, fmt::format("{}: {}\n", name_of(tool), error.sentence()));
        return kCannotRun;
    };
    auto command = parse_load_command(tool, texts);
    if (!command.ok())
        return refuse(command.error());
    ConsoleLog console(command->options.driven ? stderr : stdout);
    if (command->action != Action::version)
        console.write(LogLevel::trace, "0", params_text(tool, command->options), 0);
    if (command->action != Action::run) {
        say(stdout, command->action == Action::help ? help_text(tool) : fmt::format("{}\n", kVersion));
        return EXIT_SUCCESS;
    }
    if (tool == Tool::rtmp_load_fast)
        say(command->options.driven ? stderr : stdout, kFastWarning);
    auto make_task = prepare(command->options);
    if (!make_task.ok())
        return refuse(make_task.error());
    return std::make_unique<LoadRun>(tool, command->options, *std::move(make_task), service)->run();
}

}  // namespace live::bench
