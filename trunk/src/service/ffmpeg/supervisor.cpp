#include "service/ffmpeg/supervisor.hpp"

#include <utility>

#include "base/backoff.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::ffmpeg {

namespace {

std::int64_t ms_since(TimePoint began) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(io::now() - began).count();
}

}  // namespace

Supervisor::Supervisor(SupervisorOptions options, MakeChild make_child, Log log)
    : options_(std::move(options)), make_child_(std::move(make_child)), log_(std::move(log)) {}

void Supervisor::run(io::Deadline deadline) {
    Backoff backoff(options_.restart_first, options_.restart_max);
    for (;;) {
        const TimePoint began = io::now();
        const auto ended = run_once(deadline);
        if (!ended.ok() && ended.code() == Errc::cancelled)
            return;
        if (ended.ok() && ended->success() && !options_.restarts_after_success)
            return;
        if (io::now() - began >= options_.good_after)
            backoff.reset();
        const auto pause = backoff.next(static_cast<std::uint32_t>(random_number()));
        if (!missing_logged_)
            LOG_INFO(log_, "{} {} restarts in {} ms", options_.keyword, options_.name, pause.count());
        facts_.since = io::now();
        facts_.next_start = facts_.since + pause;
        if (!io::sleep(deadline.sooner(io::Deadline::after(pause))).ok())
            return;
        facts_.next_start.reset();
    }
}

Result<io::ChildExit> Supervisor::run_once(io::Deadline deadline) {
    const io::ChildOptions what = make_child_();
    auto child = io::ChildProcess::spawn(what);
    if (!child.ok()) {
        const bool is_missing = child.code() == Errc::not_found || child.code() == Errc::denied;
        if (!is_missing || !missing_logged_)
            LOG_ERROR(log_, "{} {} cannot start the program {}: {}", options_.keyword, options_.name, what.arguments.front(),
                      child.error().text());
        missing_logged_ = missing_logged_ || is_missing;
        facts_.last_error = child.error().sentence();
        return Error(std::move(child).error());
    }
    missing_logged_ = false;
    const TimePoint began = io::now();
    facts_.pid = (*child)->pid();
    facts_.since = began;
    ++facts_.starts;
    LOG_INFO(log_, "{} start {}, pid={}, program={}, log={}", options_.keyword, options_.name, (*child)->pid(),
             what.arguments.front(), what.output_path.empty() ? "off" : what.output_path);
    const auto exit = wait(**child, began, deadline);
    facts_.pid.reset();
    if (!exit.ok()) {
        const auto stopped = (*child)->stop(io::Deadline::after(options_.stop_limit));
        LOG_INFO(log_, "{} stop {}, {}", options_.keyword, options_.name,
                 stopped.ok() ? stopped->text() : stopped.error().text());
        return Error(exit.error());
    }
    note_exit(*exit, began, what.output_path);
    return *exit;
}

void Supervisor::note_exit(const io::ChildExit& exit, TimePoint began, const std::string& output_path) {
    facts_.last_error = exit.text();
    if (exit.success())
        LOG_INFO(log_, "{} {} exited after {} ms", options_.keyword, options_.name, ms_since(began));
    else
        LOG_WARN(log_, "{} {} {} after {} ms, see {}", options_.keyword, options_.name, exit.text(), ms_since(began),
                 output_path.empty() ? "its log (disabled)" : output_path);
}

Result<io::ChildExit> Supervisor::wait(io::ChildProcess& child, TimePoint began, io::Deadline deadline) {
    if (options_.report_interval.count() == 0)
        return child.wait(deadline);
    for (;;) {
        auto exit = child.wait(deadline.sooner(io::Deadline::after(options_.report_interval)));
        if (exit.ok() || exit.code() != Errc::timed_out || deadline.expired())
            return exit;
        LOG_INFO(log_, "-> {} time={}, pid={}, name={}", options_.keyword, ms_since(began), child.pid(), options_.name);
    }
}

}  // namespace live::service::ffmpeg
