// Disk: the files of one stream's HLS on the disk, and what happens when it does not take them (hls_on_error). Players are
// answered from memory; who writes never waits.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "io/deadline.hpp"
#include "service/files/file_queue.hpp"
#include "service/hls/options.hpp"
#include "service/segments/source_feed.hpp"

namespace live::service::hls {

class Disk {
public:
    // How often a disk that fails is complained of.
    static constexpr std::chrono::seconds kComplaintInterval{10};

    // What is referred to outlives this.
    Disk(const HlsOptions& options, segments::SourceFeed& feed, Log log) : options_(options), feed_(feed), log_(std::move(log)) {}

    // In the disk's fiber, or at once: the file is there, or it is not. Must not suspend; may be empty.
    using Written = std::function<void()>;
    using Failed = std::function<void()>;
    void write(const std::string& path, std::vector<Block> blocks, Written written = {}, Failed failed = {});
    void write_list(const std::string& path, std::string_view text);
    void remove(std::vector<std::string> paths) { queue_.remove(std::move(paths)); }
    // After what is still to be written. Waits for it.
    void remove_and_wait(std::vector<std::string> paths, io::Deadline deadline);

    // Another error of HLS has the same consequence.
    void fail(const Error& error);
    // hls_on_error ignore: nothing more is made for this publisher.
    bool is_ignoring() const { return is_ignoring_; }
    void begin_publisher() { is_ignoring_ = false; }

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
