// A few threads for work that blocks or takes long: name resolution, files, audio conversion, handshakes. Jobs enter through a
// bounded queue per kind, each with its own threads; finished ones return to the loop through an eventfd. Internal to the io
// room; the rest of the server calls off_loop() and start_job().
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/st/engine.hpp"
#include "io/threads/fair_queue.hpp"

namespace live::io {

// The resource that a job's thread waits for.
enum class Work : std::uint8_t {
    local,     // this machine: files, /proc
    remote,    // another machine, as with name look-ups: may hang for long, so only some threads take it
    stranger,  // the same for a name given by a stranger, who may make it hang: never ahead of the operator's names
    compute,   // the CPU: audio converted during playback, so never queued after a file
    arrival,   // the CPU too: handshakes of new clients, whose number must never delay audio
    password,  // the CPU for tens of milliseconds, for strangers: two at a time, and only when nothing else needs it
};

// The source of work: for strangers, the address that it counts for.
using Party = std::array<std::uint8_t, 16>;

class Job {
public:
    explicit Job(Work what, std::optional<Party> whose = {}) : work(what), party(whose) {}
    virtual ~Job() = default;
    // Runs in a worker thread.
    virtual void run() = 0;

    const Work work;
    const std::optional<Party> party;     // none: the server itself, or somebody trusted
    Signal done;                          // raised on the loop
    std::atomic<bool> abandoned = false;  // the caller stopped waiting: not run if it has not started
};

class WorkerPool final : public st::Engine::Waker {
public:
    static constexpr std::size_t kKinds = 6;
    // Per kind: if one kind hangs, the others still have threads. Arrivals get one thread, so that newcomers never take more than
    // one core. Parties take turns there, so that a newcomer waits for one piece of work of each other address, not for a queue.
    static constexpr std::array<std::size_t, kKinds> kThreads = {4, 2, 2, 2, 1, 2};
    static constexpr std::array<std::size_t, kKinds> kQueuedMax = {1024, 1024, 64, 4096, 4096, 128};
    // Jobs of one party in a queue.
    static constexpr std::size_t kQueuedPerParty = 256;

    // Starts the threads. The engine outlives the pool.
    static Result<std::unique_ptr<WorkerPool>> create(st::Engine& engine);
    explicit WorkerPool(st::Engine& engine) : engine_(engine) {}
    // Waits for running jobs; queued ones are dropped.
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // Errc::limit when the queue is full. Two owners: the waiting caller, and the worker, which may outlast it.
    Result<void> submit(std::shared_ptr<Job> job);

    using Jobs = FairQueue<Party, std::shared_ptr<Job>>;
    Jobs::Room room_for(Work work, const std::optional<Party>& party);

    void on_wake() override;

private:
    struct Queue {
        explicit Queue(std::size_t max) : jobs(max, kQueuedPerParty) {}
        Jobs jobs;
        std::condition_variable wanted;
    };

    void work(std::size_t kind);
    static constexpr std::size_t index_of(Work work) { return static_cast<std::size_t>(work); }

    st::Engine& engine_;
    int event_fd_ = -1;
    std::mutex mutex_;
    std::array<Queue, kKinds> queues_ = {Queue(kQueuedMax[0]), Queue(kQueuedMax[1]), Queue(kQueuedMax[2]),
                                         Queue(kQueuedMax[3]), Queue(kQueuedMax[4]), Queue(kQueuedMax[5])};
    std::vector<std::shared_ptr<Job>> finished_;
    std::vector<std::thread> threads_;
    bool stopping_ = false;
};

}  // namespace live::io
