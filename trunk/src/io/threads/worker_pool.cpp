#include "io/threads/worker_pool.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace live::io {

namespace {

// Thread names, as shown by top and gdb.
constexpr std::array<const char*, WorkerPool::kKinds> kNames = {"io-local",   "io-remote",  "io-stranger",
                                                                "io-compute", "io-arrival", "io-password"};
// For passwords: the loop and the other threads come first.
constexpr int kNice = 5;

}  // namespace

Result<std::unique_ptr<WorkerPool>> WorkerPool::create(st::Engine& engine) {
    auto pool = std::make_unique<WorkerPool>(engine);
    pool->event_fd_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (pool->event_fd_ < 0)
        return system_error("creating the workers' eventfd", errno);
    TRY(engine.set_waker(pool->event_fd_, pool.get()));
    // Signals are handled by the loop; a thread inherits the mask of its creator.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        for (std::size_t i = 0; i < kThreads[kind]; ++i) {
            pool->threads_.emplace_back([self = pool.get(), kind] { self->work(kind); });
            ::pthread_setname_np(pool->threads_.back().native_handle(), kNames[kind]);
        }
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return pool;
}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (Queue& queue : queues_)
            queue.jobs.clear();
    }
    for (Queue& queue : queues_)
        queue.wanted.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
    if (event_fd_ >= 0) {
        engine_.clear_waker();
        ::close(event_fd_);
    }
}

// The job's other owner is the caller waiting for it; the last of the two frees it.
Result<void> WorkerPool::submit(std::shared_ptr<Job> job) {
    const std::size_t kind = index_of(job->work);
    Queue& queue = queues_[kind];
    {
        const std::lock_guard lock(mutex_);
        const std::optional<Party> party = job->party;
        if (queue.jobs.push(party, std::move(job)) != Jobs::Room::yes)
            return Error(Errc::limit, "too much work waits for the worker threads");
    }
    queue.wanted.notify_one();
    return {};
}

WorkerPool::Jobs::Room WorkerPool::room_for(Work work, const std::optional<Party>& party) {
    const std::lock_guard lock(mutex_);
    return queues_[index_of(work)].jobs.room_for(party);
}

void WorkerPool::work(std::size_t kind) {
    Queue& queue = queues_[kind];
    // Linux: of this thread only. It may fail without harm.
    if (kind == index_of(Work::password))
        ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
    std::unique_lock lock(mutex_);
    for (;;) {
        queue.wanted.wait(lock, [&] { return stopping_ || !queue.jobs.empty(); });
        if (stopping_)
            return;
        std::shared_ptr<Job> job = queue.jobs.pop();
        lock.unlock();
        if (!job->abandoned.load())
            job->run();
        lock.lock();
        finished_.push_back(std::move(job));
        // One write covers everything the loop has not fetched yet.
        if (finished_.size() == 1) {
            const std::uint64_t one = 1;
            const auto written = ::write(event_fd_, &one, sizeof one);
            static_cast<void>(written);
        }
    }
}

void WorkerPool::on_wake() {
    std::uint64_t count = 0;
    const auto read_bytes = ::read(event_fd_, &count, sizeof count);
    static_cast<void>(read_bytes);
    std::vector<std::shared_ptr<Job>> finished;
    {
        const std::lock_guard lock(mutex_);
        finished.swap(finished_);
    }
    for (const auto& job : finished)
        job->done.raise();
}

}  // namespace live::io
