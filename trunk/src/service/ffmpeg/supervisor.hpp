// Supervisor: keeps one child program running: starts it, waits for its end, and restarts it after a pause. Pauses grow while it
// exits immediately. Cancelling stops it: the child is asked to end and killed if it does not.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "io/process/child_process.hpp"

namespace live::service::ffmpeg {

struct SupervisorOptions {
    // "IGS": the keyword that operators search for in the log.
    std::string keyword;
    // Identifies the child: "vhost/id".
    std::string name;
    // Between two log lines about a running child; zero: none.
    std::chrono::milliseconds report_interval = 10s;
    std::chrono::milliseconds restart_first = 3s;
    std::chrono::milliseconds restart_max = 30s;
    // A child that ran this long makes the next pause short again.
    std::chrono::milliseconds good_after = 5s;
    // Otherwise a child that has exited with 0 is not started again.
    bool restarts_after_success = true;
    // Between the request to end and the kill.
    std::chrono::milliseconds stop_limit = 3s;
};

class Supervisor {
public:
    // `make_child` returns the command, called for each start because names may contain the time.
    using MakeChild = std::function<io::ChildOptions()>;

    Supervisor(SupervisorOptions options, MakeChild make_child, Log log);

    // Runs until cancelled, or until a success if that ends it; the child has ended then. A missing program costs one log line
    // and is retried from time to time.
    void run(io::Deadline deadline);

    struct Facts {
        std::optional<int> pid{};  // while it runs
        TimePoint since{};         // of the run or the pause
        std::uint64_t starts = 0;
        std::string last_error{};  // why it ended or did not start
        std::optional<TimePoint> next_start{};
    };
    const Facts& facts() const { return facts_; }

private:
    // Starts the child once and waits for its end. Errc::cancelled after it was stopped.
    Result<io::ChildExit> run_once(io::Deadline deadline);
    void note_exit(const io::ChildExit& exit, TimePoint began, const std::string& output_path);
    Result<io::ChildExit> wait(io::ChildProcess& child, TimePoint began, io::Deadline deadline);

    SupervisorOptions options_;
    MakeChild make_child_;
    Log log_;
    Facts facts_;
    bool missing_logged_ = false;
};

}  // namespace live::service::ffmpeg
