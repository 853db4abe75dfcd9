#include "service/dash/segment_files.hpp"

#include <iterator>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"

namespace live::service::dash {

SegmentFiles::SegmentFiles(const DashOptions& options, std::string folder, segments::Store& store,
                           segments::StreamOfFilesRef stream, const std::string& url, Log log)
    : options_(options), folder_(std::move(folder)), store_(store), stream_(std::move(stream)), url_(url), log_(std::move(log)) {}

void SegmentFiles::leave_list() {
    left_.insert(left_.end(), std::move_iterator(listed_.begin()), std::move_iterator(listed_.end()));
    listed_.clear();
}

std::vector<std::string> SegmentFiles::add_headers(const std::vector<segments::Header>& headers, std::uint64_t number) {
    std::vector<HeldFile>& files = init_files_.emplace_back();
    std::vector<std::string> tracks;
    for (const segments::Header& header : headers) {
        tracks.push_back(header.id.name());
        files.push_back(hold(fmt::format("{}{}-init{}.mp4", folder_, tracks.back(), init_suffix(number)), {header.init}));
        write(files.back().path, {header.init});
    }
    if (init_files_.size() > kInitsMax) {
        std::vector<std::string> paths;
        for (const HeldFile& oldest : init_files_.front()) {
            forget(oldest);
            paths.push_back(oldest.path);
        }
        disk_.remove(std::move(paths));
        init_files_.pop_front();
    }
    return tracks;
}

void SegmentFiles::write(const std::string& path, std::vector<Block> blocks) {
    disk_.write(path, std::move(blocks), [this](const Result<void>& written) {
        if (written.ok() || (complained_at_ != TimePoint{} && io::now() - complained_at_ < kComplaintInterval))
            return;
        complained_at_ = io::now();
        LOG_ERROR(log_, "DASH {}: {}", url_, written.error().text());
    });
}

std::string SegmentFiles::path_of(const std::string& track, std::uint64_t number) const {
    return fmt::format("{}{}-{}.m4s", folder_, track, number);
}

void SegmentFiles::trim() {
    for (; listed_.size() > options_.window_size; listed_.pop_front())
        left_.push_back(std::move(listed_.front()));
    std::size_t held = 0;
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            held += segment.bytes();
    std::vector<std::string> paths;
    for (; left_.size() > kGrace || (held > options_.window_bytes && !left_.empty()); release_first(left_)) {
        held -= left_.front().bytes();
        forget(left_.front(), paths);
    }
    for (; held > options_.window_bytes && listed_.size() > 1; release_first(listed_)) {
        held -= listed_.front().bytes();
        forget(listed_.front(), paths);
        report_bytes();
    }
    if (options_.cleanup && !paths.empty())
        disk_.remove(std::move(paths));
}

// Requests that still send a file free it when they end.
void SegmentFiles::release_first(std::deque<Segment>& segments) {
    std::vector<Block> spent;
    for (const TrackPiece& piece : segments.front().tracks)
        if (piece.held.file != nullptr && piece.held.file.use_count() == 1)
            std::ranges::move(piece.held.file->release(), std::back_inserter(spent));
    segments.pop_front();
    io::free_off_loop(std::move(spent));
}

void SegmentFiles::report_bytes() {
    if (!std::exchange(bytes_logged_, true))
        LOG_WARN(log_,
                 "DASH {}: its fragments exceed dash_window_bytes ({}) before they fill dash_window_size: the oldest are removed "
                 "early",
                 url_, options_.window_bytes);
}

void SegmentFiles::forget(const Segment& segment, std::vector<std::string>& paths) {
    for (const TrackPiece& piece : segment.tracks) {
        forget(piece.held);
        paths.push_back(piece.held.path);
    }
}

std::vector<std::string> SegmentFiles::forget_all() {
    std::vector<std::string> paths;
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            forget(segment, paths);
    for (const std::vector<HeldFile>& files : init_files_)
        for (const HeldFile& file : files) {
            forget(file);
            paths.push_back(file.path);
        }
    return paths;
}

void SegmentFiles::release() {
    for (std::deque<Segment>* segments : {&listed_, &left_})
        while (!segments->empty())
            release_first(*segments);
}

std::size_t SegmentFiles::held_bytes() const {
    std::size_t sum = disk_.bytes();
    for (const std::deque<Segment>* segments : {&listed_, &left_})
        for (const Segment& segment : *segments)
            sum += segment.held_bytes();
    return sum;
}

}  // namespace live::service::dash
