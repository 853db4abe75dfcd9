// SegmentFiles: the files of one stream, in memory and on disk: the segments in the MPD, those that have left it recently, and
// the initialization sections.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/dash/options.hpp"
#include "service/dash/segment.hpp"
#include "service/files/file_queue.hpp"
#include "service/segments/segmenter_events.hpp"
#include "service/segments/store.hpp"

namespace live::service::dash {

class SegmentFiles {
public:
    // Segments kept after they leave the MPD, for players that hold the previous MPD.
    static constexpr std::size_t kGrace = 2;
    // Sets of headers kept when the publisher's configuration changes often.
    static constexpr std::size_t kInitsMax = 16;
    // Minimum interval between log messages about a failing disk.
    static constexpr std::chrono::seconds kComplaintInterval{10};

    // Paths begin with `folder`, which ends with a slash. Referenced objects must outlive this.
    SegmentFiles(const DashOptions& options, std::string folder, segments::Store& store, segments::StreamOfFilesRef stream,
                 const std::string& url, Log log);
    SegmentFiles(const SegmentFiles&) = delete;
    SegmentFiles& operator=(const SegmentFiles&) = delete;

    // The segments in the MPD, oldest first.
    const std::deque<Segment>& listed() const { return listed_; }
    // Lists the next segment.
    void add(Segment segment) { listed_.push_back(std::move(segment)); }
    // Empties the list, because the headers have changed or segment numbers have a gap.
    void leave_list();
    // Removes the segments that exceed the window, after their grace, or dash_window_bytes.
    void trim();

    // Adds the initialization sections with that number, and returns the names of their tracks.
    std::vector<std::string> add_headers(const std::vector<segments::Header>& headers, std::uint64_t number);
    // Adds a complete file to the store.
    HeldFile hold(const std::string& path, const std::vector<Block>& blocks) { return {path, store_.add(path, stream_, blocks)}; }
    // Removes a file from the store, if it is still that file.
    void forget(const HeldFile& held) { store_.remove(held.path, held.file); }
    void write(const std::string& path, std::vector<Block> blocks);
    std::string path_of(const std::string& track, std::uint64_t number) const;
    files::FileQueue& disk() { return disk_; }

    // Removes all files from memory, and returns the paths of all segments and headers.
    std::vector<std::string> forget_all();
    // Frees the segments off the loop.
    void release();
    // Bytes in memory, with those that are queued for the disk.
    std::size_t held_bytes() const;

private:
    void forget(const Segment& segment, std::vector<std::string>& paths);
    static void release_first(std::deque<Segment>& segments);
    void report_bytes();

    const DashOptions& options_;
    const std::string folder_;
    segments::Store& store_;
    const segments::StreamOfFilesRef stream_;
    const std::string& url_;
    Log log_;
    files::FileQueue disk_;
    std::deque<Segment> listed_;
    std::deque<Segment> left_;  // recently removed from the list
    std::deque<std::vector<HeldFile>> init_files_;
    TimePoint complained_at_{};
    bool bytes_logged_ = false;  // the memory limit's effect on the list has been logged
};

}  // namespace live::service::dash
