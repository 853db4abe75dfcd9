// A whole load program: clients as fibers, reports, end and result. The task defines what a client does.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "base/signal.hpp"
#include "bench/load/console_log.hpp"
#include "bench/load/load_client.hpp"
#include "bench/load/load_driver.hpp"
#include "bench/load/load_window.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"

namespace live::bench {

class LoadRun {
public:
    using MakeTask = std::function<std::unique_ptr<LoadTask>()>;
    // Runs beside the clients, from before the first to after the last; until it is cancelled.
    using Service = std::function<void(io::Deadline)>;

    LoadRun(Tool tool, LoadOptions options, MakeTask make_task, Service service = {});

    // Creates the loop, runs until the load is over, and prints the result. Returns the process's status: 0, 1 when a task
    // failed, 2 when it could not run.
    int run();

private:
    Result<void> work();
    Result<void> open_files();
    void client_main(std::uint64_t index, io::Deadline deadline);
    bool run_task(LoadClient& client, LoadTask& task, io::Deadline deadline);
    void wait_for_stop(io::Deadline deadline);
    void watch_signals(io::Deadline deadline);
    void report_main(io::Deadline deadline);
    void on_second(std::uint64_t second);
    void report();
    Result<void> write_result();

    ConsoleLog console_;
    LoadContext context_;
    MakeTask make_task_;
    Service service_;
    std::vector<ClientMeter> meters_;
    TimePoint began_{};
    LoadTotals second_before_;
    TimePoint second_began_{};
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> csv_{nullptr, &std::fclose};
    Signal stop_;
    std::size_t running_ = 0;
    // When another program drives it.
    std::unique_ptr<LoadWindow> window_;
    std::unique_ptr<LoadDriver> driver_;
};

// The main() of every program: parses the command line, then runs a LoadRun. `prepare` checks the options and returns the factory
// of tasks.
int load_main(Tool tool, int count, char** arguments, const std::function<Result<LoadRun::MakeTask>(const LoadOptions&)>& prepare,
              const LoadRun::Service& service = {});

}  // namespace live::bench
