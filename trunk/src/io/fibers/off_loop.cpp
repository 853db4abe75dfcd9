#include "io/fibers/off_loop.hpp"

#include <sched.h>

#include <algorithm>

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"

namespace live::io {

// The job's other owner is the worker pool, until it has run.
Result<void> start_job(std::shared_ptr<Job> job) {
    st::LoopState& state = st::loop_state();
    if (!state.workers)
        state.workers = TRY(WorkerPool::create(state.engine));
    return state.workers->submit(std::move(job));
}

// A pool that does not exist yet is empty.
WorkerPool::Jobs::Room room_for_job(Work work, const std::optional<Party>& party) {
    st::LoopState& state = st::loop_state();
    return state.workers ? state.workers->room_for(work, party) : WorkerPool::Jobs::Room::yes;
}

// Fails where there are more processors than the set has room for.
std::size_t usable_processors() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0)
        return CPU_SETSIZE;
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

namespace detail {

std::atomic<std::size_t>& bytes_being_freed() { return st::loop_state().bytes_being_freed; }

Result<void> run_job(const std::shared_ptr<Job>& job, Deadline deadline) {
    TRY(start_job(job));
    auto waited = wait(job->done, deadline);
    if (!waited.ok())
        job->abandoned.store(true);
    return waited;
}

}  // namespace detail

}  // namespace live::io
