// A few threads for what blocks: name resolution, files. Jobs go in through a bounded queue; finished ones come back to the loop
// through an eventfd. Internal to the io room; the rest of the server calls off_loop().
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/st/engine.hpp"

namespace live::io {

// What a job's thread waits for.
enum class Work : bool {
    local,   // this machine: files, /proc
    remote,  // somebody else's machine, as name look-ups do: may hang for long, so only some threads take it
};

class Job {
public:
    explicit Job(Work what) : work(what) {}
    virtual ~Job() = default;
    // In a worker thread.
    virtual void run() = 0;

    const Work work;
    Signal done;                          // raised on the loop
    std::atomic<bool> abandoned = false;  // nobody waits any more: not run if it has not begun
};

class WorkerPool final : public st::Engine::Waker {
public:
    static constexpr std::size_t kThreads = 4;
    // Of these, how many may be at remote work.
    static constexpr std::size_t kRemoteMax = 2;
    // Of each kind.
    static constexpr std::size_t kQueuedMax = 1024;

    // The threads start here. The engine outlives the pool.
    static Result<std::unique_ptr<WorkerPool>> create(st::Engine& engine);
    explicit WorkerPool(st::Engine& engine) : engine_(engine) {}
    // Waits for the jobs that run; queued ones are dropped.
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // Errc::limit when the queue is full. Two owners: who waits, and the worker, which may take longer than anybody waits.
    Result<void> submit(std::shared_ptr<Job> job);

    void on_wake() override;

private:
    void work();
    // The next job for a thread that is free, if there is one. Under the mutex.
    std::shared_ptr<Job> take();

    st::Engine& engine_;
    int event_fd_ = -1;
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<std::shared_ptr<Job>> local_;
    std::deque<std::shared_ptr<Job>> remote_;
    std::size_t remote_running_ = 0;
    std::vector<std::shared_ptr<Job>> finished_;
    std::vector<std::thread> threads_;
    bool stopping_ = false;
};

}  // namespace live::io
