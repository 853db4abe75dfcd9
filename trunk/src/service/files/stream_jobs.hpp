// StreamJobs: a service's outputs of published streams, one Output per stream: one fiber makes the files, another writes them. An
// Output has run(Deadline) and run_files(Deadline), close_files() for when nothing more is queued, is_over(), the url() of its
// source, is_published(), held_bytes() of memory, and give_up() to free them.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "service/service.hpp"

namespace live::service::files {

template <class Output>
class StreamJobs final : public StreamHolder {
public:
    // Part of the stop deadline reserved for writing queued files.
    static constexpr std::chrono::milliseconds kStopMargin{100};

    // `name` is the name of the making fibers; the writing fibers are named NAME-files.
    StreamJobs(std::string name, Log log) : name_(std::move(name)), log_(std::move(log)) {}

    // nullptr when there is none that is still running.
    Output* find(const std::string& url) const {
        const auto is_it = [&url](const auto& job) { return !job->output.is_over() && job->output.url() == url; };
        const auto found = std::ranges::find_if(jobs_, is_it);
        return found == jobs_.end() ? nullptr : &(*found)->output;
    }

    // Running outputs only. The visitor must not suspend.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const auto& job : jobs_)
            if (!job->output.is_over())
                visit(job->output);
    }

    std::vector<Held> held() const override {
        std::vector<Held> held;
        for_each([&held](const Output& output) { held.push_back({output.url(), output.held_bytes(), output.is_published()}); });
        return held;
    }
    void give_up(const std::string& url) override {
        if (Output* output = find(url); output != nullptr && !output->is_published())
            output->give_up();
    }

    // Never suspends: the new fibers run after the caller suspends. Without a writer fiber the output stays in memory only;
    // without a maker fiber it is not created: nullptr.
    template <class... Arguments>
    Output* start(Arguments&&... arguments) {
        auto job = std::make_unique<Job>(name_, std::forward<Arguments>(arguments)...);
        Output& output = job->output;
        auto started = job->maker.start(name_, [&output](io::Deadline forever) { output.run(forever); });
        if (started.ok()) {
            started = job->writer.start(name_ + "-files", [&output](io::Deadline forever) { output.run_files(forever); });
            if (!started.ok())
                output.close_files();
        }
        if (!started.ok())
            log_.write(LogLevel::error, name_ + " of " + output.url() + " cannot start: " + started.error().text());
        if (job->maker.size() == 0)
            return nullptr;
        jobs_.push_back(std::move(job));
        return &output;
    }

    // Removes finished outputs; does nothing during stop(), which iterates over them.
    void reap() {
        if (!stopping_)
            std::erase_if(jobs_, [](const auto& job) { return job->maker.size() == 0 && job->writer.size() == 0; });
    }

    // No start() afterwards. Open files are completed, and queued writes continue until the deadline. Errc::timed_out when a
    // fiber does not end.
    Result<void> stop(io::Deadline deadline) {
        stopping_ = true;
        for (const auto& job : jobs_)
            job->maker.cancel();
        for (const auto& job : jobs_)
            TRY(job->maker.stop(deadline));
        const auto until = deadline.is_never() ? deadline : io::Deadline::at(deadline.when() - kStopMargin);
        for (const auto& job : jobs_) {
            if (!job->writer.join(until).ok())
                log_.write(LogLevel::warn, name_ + " of " + job->output.url() + ": what is left is not written");
            TRY(job->writer.stop(deadline));
        }
        jobs_.clear();
        return {};
    }

    std::size_t size() const { return jobs_.size(); }

private:
    struct Job {
        template <class... Arguments>
        explicit Job(const std::string& name, Arguments&&... arguments)
            : output(std::forward<Arguments>(arguments)...), maker(name), writer(name + "-files") {}

        Output output;
        io::Scope maker;
        io::Scope writer;
    };

    const std::string name_;
    Log log_;
    std::vector<std::unique_ptr<Job>> jobs_;
    bool stopping_ = false;
};

}  // namespace live::service::files
