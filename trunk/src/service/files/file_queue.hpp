// FileQueue: one stream's files, written and removed one after the other in the order in which they were asked for, by a fiber of
// its own through worker threads. Who asks never waits; a disk that is slow or full costs files, not players.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/block.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/deadline.hpp"

namespace live::service::files {

class FileQueue {
public:
    // When so much waits, a file is not written. One of any size fits while less does: the largest fragment is no smaller.
    static constexpr std::size_t kQueuedBytesMax = 64 << 20;
    static constexpr std::size_t kQueuedJobsMax = 4'096;
    // For one file.
    static constexpr std::chrono::seconds kFileLimit{60};

    // In the queue's fiber, or at once when the queue is full. Must not suspend.
    using Done = std::function<void(const Result<void>&)>;

    // `done` may be empty.
    void write(std::string path, std::vector<Block> blocks, Done done);
    // A list that waits already gives way to the newer one.
    void write_list(std::string path, Block text, Done done);
    void remove(std::vector<std::string> paths, Done done = {});
    // What waits is done, and then run() returns.
    void close();
    void run(io::Deadline deadline);

    std::size_t waiting() const { return jobs_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    struct Job {
        std::string path;  // to write; empty: to remove
        std::vector<Block> blocks;
        std::vector<std::string> removed;
        Done done;
        std::size_t bytes = 0;
        bool is_list = false;
    };

    void add(Job job);

    std::deque<Job> jobs_;
    Signal wake_;
    std::size_t bytes_ = 0;
    bool closed_ = false;
};

}  // namespace live::service::files
