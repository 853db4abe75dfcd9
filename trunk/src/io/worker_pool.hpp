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

class Job {
public:
    virtual ~Job() = default;
    // In a worker thread.
    virtual void run() = 0;

    Signal done;                          // raised on the loop
    std::atomic<bool> abandoned = false;  // nobody waits any more: not run if it has not begun
};

class WorkerPool final : public st::Engine::Waker {
public:
    static constexpr std::size_t kThreads = 4;
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

    st::Engine& engine_;
    int event_fd_ = -1;
    std::mutex mutex_;
    std::condition_variable wanted_;
    std::deque<std::shared_ptr<Job>> queued_;
    std::vector<std::shared_ptr<Job>> finished_;
    std::vector<std::thread> threads_;
    bool stopping_ = false;
};

}  // namespace live::io
