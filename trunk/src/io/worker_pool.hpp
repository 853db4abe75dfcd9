// A few threads for what blocks or takes long: name resolution, files, converting audio. Jobs go in through a bounded queue of
// their kind, which has threads of its own; finished ones come back to the loop through an eventfd. Internal to the io room; the
// rest of the server calls off_loop() and start_job().
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
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
enum class Work : std::uint8_t {
    local,     // this machine: files, /proc
    remote,    // somebody else's machine, as name look-ups do: may hang for long, so only some threads take it
    stranger,  // the same for what a stranger has named, and may make hang: never before what the operator has named
    compute,   // the processor: audio that is converted while it plays, so never behind a file
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
    static constexpr std::size_t kKinds = 4;
    // Of each kind: whatever hangs, there are some for the others.
    static constexpr std::array<std::size_t, kKinds> kThreads = {4, 2, 2, 2};
    static constexpr std::array<std::size_t, kKinds> kQueuedMax = {1024, 1024, 64, 4096};

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
    struct Queue {
        std::deque<std::shared_ptr<Job>> jobs;
        std::condition_variable wanted;
    };

    void work(Queue& queue);
    static constexpr std::size_t index_of(Work work) { return static_cast<std::size_t>(work); }

    st::Engine& engine_;
    int event_fd_ = -1;
    std::mutex mutex_;
    std::array<Queue, kKinds> queues_;
    std::vector<std::shared_ptr<Job>> finished_;
    std::vector<std::thread> threads_;
    bool stopping_ = false;
};

}  // namespace live::io
