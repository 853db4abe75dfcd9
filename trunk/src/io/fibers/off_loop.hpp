// off_loop() runs a blocking function in a worker thread while the fiber waits and the loop continues: for files, name resolution
// and anything else that would hold the loop for long. start_job() is for callers without a fiber that could wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/threads/worker_pool.hpp"

namespace live::io {

// Queues a job for the threads of its kind and returns. After it has run, its `done` is raised on the loop, where a
// Signal::Waiter can receive it; until then everything in the job belongs to run() alone. The job may be started again
// afterwards. Errc::limit when the queue is full, or the party has too much in it: work for strangers is then refused, never done
// in the loop. Owned by the caller and by the worker, which may outlast the caller.
Result<void> start_job(std::shared_ptr<Job> job);
// Whether start_job() would take one more of this party.
WorkerPool::Jobs::Room room_for_job(Work work, const std::optional<Party>& party);

// The CPUs that this process may use (its affinity). With one, a thread for CPU work only adds a wait.
std::size_t usable_processors();

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

    OffLoopJob(F function, Work what, const std::optional<Party>& whose = {}) : Job(what, whose), work_(std::move(function)) {}
    void run() override {
        if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
            (*work_)();
            answer.emplace();
        } else {
            answer.emplace((*work_)());
        }
        // Captured objects are destroyed where the function ran, not on the loop.
        work_.reset();
    }

    std::optional<Answer> answer;

private:
    std::optional<F> work_;
};

// start_job(), then waits for it.
Result<void> run_job(const std::shared_ptr<Job>& job, Deadline deadline);

std::atomic<std::size_t>& bytes_being_freed();

// A container that free_off_loop() destroys. Its bytes count as being freed until then.
template <class Container>
struct Spent {
    // Returns the bytes of a Slice, or of memory behind a pointer.
    template <class T>
    static std::size_t bytes_of(const T& one) {
        if constexpr (requires { one.memory_bytes(); })
            return one.memory_bytes();
        else if constexpr (requires { one->size(); })
            return one->size();
        else
            return 0;
    }

    explicit Spent(Container all) : owned(std::move(all)) {
        for (const auto& one : owned)
            bytes += bytes_of(one);
        bytes_being_freed() += bytes;
    }
    Spent(Spent&& other) noexcept : owned(std::move(other.owned)), bytes(std::exchange(other.bytes, 0)) {}
    ~Spent() {
        owned = {};
        bytes_being_freed() -= bytes;
    }

    Container owned;
    std::size_t bytes = 0;
};

}  // namespace detail

// Calls `work()` in a worker thread and returns its result (T, void or Result<T>). `work` must own everything it touches: when
// the deadline passes or the fiber is cancelled, this returns while the function may still be running. It must not hold a Ref, a
// Signal or anything else of the loop. Errc::timed_out, Errc::cancelled, Errc::limit when the queue is full.
template <class F>
typename detail::OffLoopJob<F>::Answer off_loop(F work, Deadline deadline, Work what = Work::local,
                                                const std::optional<Party>& whose = {}) {
    const auto job = std::make_shared<detail::OffLoopJob<F>>(std::move(work), what, whose);
    TRY(detail::run_job(job, deadline));
    return std::move(*job->answer);
}

// Memory that free_off_loop() was given and that is not freed yet: of Slices and of pointers to bytes.
inline std::size_t bytes_being_freed() { return detail::bytes_being_freed(); }

// Destroys `owned`, if it is not empty, in a worker thread, soon: freeing tens of MiB takes milliseconds, because large blocks go
// straight back to the kernel. Never suspends; when the queue is full, it is destroyed here.
template <class Container>
void free_off_loop(Container owned, Work what = Work::local) {
    if (owned.empty())
        return;
    auto nothing = [spent = detail::Spent<Container>(std::move(owned))] {};
    static_cast<void>(start_job(std::make_shared<detail::OffLoopJob<decltype(nothing)>>(std::move(nothing), what)));
}

}  // namespace live::io
