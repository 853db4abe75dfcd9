// Runs a blocking function in a worker thread while the fiber waits and the loop goes on: off_loop(). For files, name resolution
// and the like, and for what would hold the loop for long. start_job() is for those who have no fiber that could wait.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "io/worker_pool.hpp"

namespace live::io {

// Hands a job to its kind's threads and returns. When it has run, its `done` is raised on the loop, where a Signal::Waiter hears
// of it; until then run() has all that the job holds to itself. A job may be started again after that. Errc::limit when too much
// is queued already. Its owners are the caller and the worker, which may take longer.
Result<void> start_job(std::shared_ptr<Job> job);

namespace detail {

template <class T>
struct OffLoopResult {
    using type = Result<T>;
};
template <class T>
struct OffLoopResult<Result<T>> {
    using type = Result<T>;
};

template <class F>
class OffLoopJob final : public Job {
public:
    using Answer = typename OffLoopResult<std::invoke_result_t<F&>>::type;

    OffLoopJob(F function, Work what) : Job(what), work_(std::move(function)) {}
    void run() override {
        if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
            (*work_)();
            answer.emplace();
        } else {
            answer.emplace((*work_)());
        }
        // What it captured dies where it ran, not on the loop.
        work_.reset();
    }

    std::optional<Answer> answer;

private:
    std::optional<F> work_;
};

// start_job(), and waits for it.
Result<void> run_job(const std::shared_ptr<Job>& job, Deadline deadline);

}  // namespace detail

// Calls `work()` in a worker thread and gives what it returns (T, void or Result<T>). `work` must own everything it touches: when
// the deadline passes or the fiber is cancelled, this returns while the function may still run. No Ref, Signal or anything else
// of the loop may be in it. Errc::timed_out, Errc::cancelled, Errc::limit when too much is queued already.
template <class F>
typename detail::OffLoopJob<F>::Answer off_loop(F work, Deadline deadline, Work what = Work::local) {
    const auto job = std::make_shared<detail::OffLoopJob<F>>(std::move(work), what);
    TRY(detail::run_job(job, deadline));
    return std::move(*job->answer);
}

}  // namespace live::io
