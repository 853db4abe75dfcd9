#include "io/worker_pool.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace live::io {

Result<std::unique_ptr<WorkerPool>> WorkerPool::create(st::Engine& engine) {
    auto pool = std::make_unique<WorkerPool>(engine);
    pool->event_fd_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (pool->event_fd_ < 0)
        return system_error("creating the workers' eventfd", errno);
    TRY(engine.set_waker(pool->event_fd_, pool.get()));
    // Signals are the loop's business: a thread inherits the mask it is created under.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    for (std::size_t i = 0; i < kThreads; ++i) {
        WorkerPool* self = pool.get();
        pool->threads_.emplace_back([self] { self->work(); });
        ::pthread_setname_np(pool->threads_.back().native_handle(), "io-worker");
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
    wanted_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
    if (event_fd_ >= 0) {
        engine_.clear_waker();
        ::close(event_fd_);
    }
}

// The job's other owner is the fiber that waits; the last of the two to let go frees it.
Result<void> WorkerPool::submit(std::shared_ptr<Job> job) {
    {
        const std::lock_guard lock(mutex_);
        const std::size_t kind = index_of(job->work);
        if (queues_[kind].jobs.size() >= kQueuedMax[kind])
            return Error(Errc::limit, "too much work waits for the worker threads");
        queues_[kind].jobs.push_back(std::move(job));
    }
    wanted_.notify_one();
    return {};
}

std::shared_ptr<Job> WorkerPool::take() {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
        Queue& queue = queues_[kind];
        if (queue.jobs.empty() || queue.running >= kRunningMax[kind])
            continue;
        std::shared_ptr<Job> job = std::move(queue.jobs.front());
        queue.jobs.pop_front();
        ++queue.running;
        return job;
    }
    return nullptr;
}

void WorkerPool::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        std::shared_ptr<Job> job;
        wanted_.wait(lock, [&] { return stopping_ || (job = take()) != nullptr; });
        if (stopping_)
            return;
        lock.unlock();
        if (!job->abandoned.load())
            job->run();
        lock.lock();
        --queues_[index_of(job->work)].running;
        if (job->work != Work::local)
            wanted_.notify_one();  // this thread may find something else to do first
        finished_.push_back(std::move(job));
        // One write for all that the loop has not fetched yet.
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
