// Supervisor: keeps one child program running: starts it, waits for its end, starts it again after a pause. Pauses grow while it
// dies at once. Stopping it is a cancel: the child is asked to end and killed when it does not.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/log.hpp"
#include "io/child_process.hpp"
#include "io/deadline.hpp"

namespace live::service::ffmpeg {

struct SupervisorOptions {
    // "IGS": the word that operators look for in the log.
    std::string keyword;
    // Which of them: "vhost/id".
    std::string name;
    // Between two lines about a running child.
    std::chrono::milliseconds report_interval = 10s;
    std::chrono::milliseconds restart_first = 3s;
    std::chrono::milliseconds restart_max = 30s;
    // A child that lived this long makes the next pause a short one again.
    std::chrono::milliseconds good_after = 5s;
    // Between the request to end and the kill.
    std::chrono::milliseconds stop_limit = 3s;
};

class Supervisor {
public:
    // `make_child` says what to start, each time anew, because names may hold the time.
    using MakeChild = std::function<io::ChildOptions()>;

    Supervisor(SupervisorOptions options, MakeChild make_child, Log log);

    // Until cancelled; then the child has ended. A program that is not there costs one line and is looked for again from time to
    // time.
    void run(io::Deadline deadline);

private:
    // Starts the child once and waits for its end. Errc::cancelled after it was stopped.
    Result<void> run_once(io::Deadline deadline);
    Result<io::ChildExit> wait(io::ChildProcess& child, TimePoint began, io::Deadline deadline);

    SupervisorOptions options_;
    MakeChild make_child_;
    Log log_;
    bool told_missing_ = false;
};

}  // namespace live::service::ffmpeg
