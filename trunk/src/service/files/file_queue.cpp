#include "service/files/file_queue.hpp"

#include <numeric>
#include <utility>

#include "io/fibers/loop.hpp"
#include "io/files/replace_file.hpp"

namespace live::service::files {

void FileQueue::write(std::string path, std::vector<Block> blocks, Done done) {
    if (has_mirror())
        mirror_->write(path, blocks, false);
    Job job;
    job.bytes = std::accumulate(blocks.begin(), blocks.end(), std::size_t{0},
                                [](std::size_t sum, const Block& block) { return sum + block->size(); });
    job.path = std::move(path);
    job.blocks = std::move(blocks);
    job.done = std::move(done);
    add(std::move(job));
}

void FileQueue::write_list(std::string path, Block text, Done done) {
    if (has_mirror())
        mirror_->write(path, {text}, true);
    if (!jobs_.empty() && jobs_.back().is_list && jobs_.back().path == path) {
        jobs_.back().blocks = {std::move(text)};
        return;
    }
    Job job;
    job.path = std::move(path);
    job.bytes = text->size();
    job.blocks = {std::move(text)};
    job.done = std::move(done);
    job.is_list = true;
    add(std::move(job));
}

void FileQueue::remove(std::vector<std::string> paths, Done done) {
    if (has_mirror())
        mirror_->remove(paths);
    Job job;
    job.removed = std::move(paths);
    job.done = std::move(done);
    add(std::move(job));
}

void FileQueue::add(Job job) {
    if (off_) {
        if (job.path.empty() && job.done)
            job.done({});
        return;
    }
    const bool is_full = jobs_.size() >= kQueuedJobsMax || (job.bytes > 0 && bytes_ >= kQueuedBytesMax);
    if (closed_ || is_full) {
        if (job.done)
            job.done(Error(Errc::limit, "the disk is too slow: " + std::to_string(bytes_) + " bytes wait to be written"));
        return;
    }
    bytes_ += job.bytes;
    jobs_.push_back(std::move(job));
    wake_.raise();
}

void FileQueue::close() {
    closed_ = true;
    wake_.raise();
}

void FileQueue::run(io::Deadline deadline) {
    for (;;) {
        while (!jobs_.empty()) {
            Job job = std::move(jobs_.front());
            jobs_.pop_front();
            const auto limit = deadline.sooner(io::Deadline::after(kFileLimit));
            const auto ended = job.path.empty() ? io::remove_files(std::move(job.removed), limit)
                                                : io::replace_file(std::move(job.path), std::move(job.blocks), limit);
            bytes_ -= job.bytes;
            if (!ended.ok() && ended.code() == Errc::cancelled)
                return;
            if (job.done)
                job.done(ended);
        }
        if (closed_ || !io::wait(wake_, deadline).ok())
            return;
    }
}

}  // namespace live::service::files
