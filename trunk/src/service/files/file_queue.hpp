// FileQueue: the files of one stream, written and removed in the order requested, by a dedicated fiber through worker threads.
// Callers never wait; a slow or full disk costs files, not players.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "service/files/file_mirror.hpp"

namespace live::service::files {

class FileQueue {
public:
    // A file is not written while this much is queued. Below the limit a file of any size is accepted: one fragment may be as
    // large as the limit.
    static constexpr std::size_t kQueuedBytesMax = 64 << 20;
    static constexpr std::size_t kQueuedJobsMax = 4'096;
    // Per file.
    static constexpr std::chrono::seconds kFileLimit{60};

    // Called in the queue's fiber, or immediately when the queue is full. Must not suspend.
    using Done = std::function<void(const Result<void>&)>;

    // `done` may be empty.
    void write(std::string path, std::vector<Block> blocks, Done done);
    // Replaces a queued list that is not yet written.
    void write_list(std::string path, Block text, Done done);
    void remove(std::vector<std::string> paths, Done done = {});
    // From now on nothing is written or removed, and no write is reported: another worker has the files.
    void set_off(bool off) { off_ = off; }
    // Gets the same files from now on, whether the disk takes them or not.
    void set_mirror(std::unique_ptr<FileMirror> mirror) { mirror_ = std::move(mirror); }
    // Lets run() return once the queue is empty.
    void close();
    void run(io::Deadline deadline);

    std::size_t waiting() const { return jobs_.size(); }
    std::size_t bytes() const { return bytes_; }

private:
    struct Job {
        std::string path;  // to write; empty for a removal
        std::vector<Block> blocks;
        std::vector<std::string> removed;
        Done done;
        std::size_t bytes = 0;
        bool is_list = false;
    };

    void add(Job job);
    bool has_mirror() const { return mirror_ != nullptr && !off_; }

    std::deque<Job> jobs_;
    std::unique_ptr<FileMirror> mirror_;
    Signal wake_;
    std::size_t bytes_ = 0;
    bool closed_ = false;
    bool off_ = false;
};

}  // namespace live::service::files
