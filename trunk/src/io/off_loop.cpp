#include "io/off_loop.hpp"

#include "io/loop.hpp"
#include "io/loop_state.hpp"

namespace live::io {

// The job's other owner is the worker pool, until it has run.
Result<void> start_job(std::shared_ptr<Job> job) {
    st::LoopState& state = st::loop_state();
    if (!state.workers)
        state.workers = TRY(WorkerPool::create(state.engine));
    return state.workers->submit(std::move(job));
}

namespace detail {

Result<void> run_job(const std::shared_ptr<Job>& job, Deadline deadline) {
    TRY(start_job(job));
    auto waited = wait(job->done, deadline);
    if (!waited.ok())
        job->abandoned.store(true);
    return waited;
}

}  // namespace detail

}  // namespace live::io
