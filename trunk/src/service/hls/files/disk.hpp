// Disk: writes the HLS files of one stream to disk, and handles write failures (hls_on_error). Players are served from memory;
// callers of write functions never wait.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/files/file_queue.hpp"
#include "service/hls/options.hpp"
#include "service/segments/source_feed.hpp"

namespace live::service::hls {

class Disk {
public:
    // Minimum interval between log messages about a failing disk.
    static constexpr std::chrono::seconds kComplaintInterval{10};

    // Referenced objects must outlive this.
    Disk(const HlsOptions& options, segments::SourceFeed& feed, Log log) : options_(options), feed_(feed), log_(std::move(log)) {}

    // Called in the disk's fiber, or immediately, after the write has succeeded or failed. Must not suspend; may be empty.
    using Written = std::function<void()>;
    using Failed = std::function<void()>;
    void write(const std::string& path, std::vector<Block> blocks, Written written = {}, Failed failed = {});
    void write_list(const std::string& path, std::string_view text);
    void remove(std::vector<std::string> paths) { queue_.remove(std::move(paths)); }
    // Queued after pending writes; waits for the removal.
    void remove_and_wait(std::vector<std::string> paths, io::Deadline deadline);

    // Applies hls_on_error for another HLS error.
    void fail(const Error& error);
    // hls_on_error ignore: no more output for this publisher.
    bool is_ignoring() const { return is_ignoring_; }
    // `is_copy`: the stream is another worker's, which writes its files.
    void begin_publisher(bool is_copy) {
        is_ignoring_ = false;
        queue_.set_off(is_copy);
    }

    // See FileQueue.
    void set_mirror(std::unique_ptr<files::FileMirror> mirror) { queue_.set_mirror(std::move(mirror)); }

    std::size_t bytes() const { return queue_.bytes(); }
    void run(io::Deadline deadline) { queue_.run(deadline); }
    void close() { queue_.close(); }

private:
    const HlsOptions& options_;
    segments::SourceFeed& feed_;
    Log log_;
    files::FileQueue queue_;
    TimePoint complained_at_{};
    bool is_ignoring_ = false;
};

}  // namespace live::service::hls
