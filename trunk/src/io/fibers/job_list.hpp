// JobList: the jobs of a service. Each runs in a fiber and a scope of its own, so that one can be ended while the others
// continue. Work has run(Deadline). If it has end(), that requests the end; otherwise its fiber is cancelled.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"

namespace live::io {

template <class Work>
class JobList {
public:
    // `name` is that of the fibers and their scopes.
    explicit JobList(std::string name) : name_(std::move(name)) {}
    JobList(const JobList&) = delete;
    JobList& operator=(const JobList&) = delete;

    // Constructs a Work from the arguments; it is destroyed as soon as its run() has returned. Never suspends: the fiber first
    // runs when the caller suspends. Errc::limit, Errc::cancelled after stop().
    template <class... Arguments>
    Result<void> start(Arguments&&... arguments) {
        if (stopping_)
            return Error(Errc::cancelled, name_ + ": the server stops");
        reap();
        auto job = std::make_unique<Job>(name_);
        job->work.emplace(std::forward<Arguments>(arguments)...);
        TRY(job->scope.start(name_, [&job = *job](Deadline forever) {
            job.work->run(forever);
            job.work.reset();
        }));
        jobs_.push_back(std::move(job));
        return {};
    }

    // Returns the first matching Work that runs and has not been ended; nullptr if there is no match.
    template <class Predicate>
    Work* find(Predicate&& is_it) const {
        for (const auto& job : jobs_)
            if (job->work && !job->is_ended && is_it(*job->work))
                return &*job->work;
        return nullptr;
    }
    // Every Work that runs, ended ones included. The visitor must not suspend.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const auto& job : jobs_)
            if (job->work)
                visit(std::as_const(*job->work));
    }
    // Without those that have been ended.
    template <class Visitor>
    void for_each_current(Visitor&& visit) const {
        for (const auto& job : jobs_)
            if (job->work && !job->is_ended)
                visit(std::as_const(*job->work));
    }
    // Those that run and have not been ended.
    std::size_t size() const {
        std::size_t count = 0;
        for (const auto& job : jobs_)
            count += job->work && !job->is_ended ? 1 : 0;
        return count;
    }

    // Ends them. Does not wait.
    template <class Predicate>
    void end_if(Predicate&& is_it) {
        for (const auto& job : jobs_) {
            if (!job->work || job->is_ended || !is_it(std::as_const(*job->work)))
                continue;
            job->is_ended = true;
            if constexpr (requires(Work& work) { work.end(); })
                job->work->end();
            else
                job->scope.cancel();
        }
    }
    void end_all() {
        end_if([](const Work&) { return true; });
    }
    // Waits until those that have been ended have returned. Errc::timed_out names one that has not.
    Result<void> join_ended(Deadline deadline) {
        for (const auto& job : jobs_)
            if (job->is_ended)
                TRY(job->scope.join(deadline));
        return {};
    }
    // Ends all, cancels those that do not return by themselves, and waits; nothing starts afterwards. Errc::timed_out.
    Result<void> stop(Deadline deadline) {
        stopping_ = true;
        end_all();
        for (const auto& job : jobs_)
            TRY(job->scope.stop(deadline));
        jobs_.clear();
        return {};
    }
    bool is_stopping() const { return stopping_; }

    // Frees what has returned; start() does it too. Does nothing during stop(), which iterates over the jobs.
    void reap() {
        if (!stopping_)
            std::erase_if(jobs_, [](const auto& job) { return job->scope.size() == 0; });
    }

private:
    struct Job {
        explicit Job(const std::string& name) : scope(name) {}
        std::optional<Work> work;  // until its run() has returned
        Scope scope;
        bool is_ended = false;  // asked to
    };

    const std::string name_;
    std::vector<std::unique_ptr<Job>> jobs_;
    bool stopping_ = false;
};

}  // namespace live::io
