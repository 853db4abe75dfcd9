// Promises: the segments of a stream that players may request before they are complete: the one in progress, and the next one,
// which the MPD lists too. Their files are in the store; requests wait for the first bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "service/dash/segment.hpp"
#include "service/segments/store.hpp"

namespace live::service::dash {

class Promises {
public:
    // Segments that are listed ahead of the one in progress: a player keeps an MPD for up to a segment's duration.
    static constexpr std::uint64_t kAhead = 1;

    // Paths begin with `folder`. `store` must outlive this.
    Promises(segments::Store& store, segments::StreamOfFilesRef stream, std::string folder)
        : store_(store), stream_(std::move(stream)), folder_(std::move(folder)) {}
    ~Promises() { abandon_all(); }
    Promises(const Promises&) = delete;
    Promises& operator=(const Promises&) = delete;

    // The names of the tracks in each segment from now on. Files of other tracks are abandoned.
    void set_tracks(std::vector<std::string> tracks);
    // Promises segment `number` and the next one; abandons all others.
    void make(std::uint64_t number);
    // The segment in progress. There must be one.
    Segment& current() { return segments_.front(); }
    // Removes and returns segment `number` with its files; none if it was not promised.
    std::optional<Segment> take(std::uint64_t number);
    // Abandons all segments: waiting requests get no bytes.
    void abandon_all();
    bool is_empty() const { return segments_.empty(); }

private:
    void add_tracks(Segment& segment);
    void abandon(const TrackPiece& piece);

    segments::Store& store_;
    const segments::StreamOfFilesRef stream_;
    const std::string folder_;
    std::vector<std::string> tracks_;
    std::deque<Segment> segments_;  // by number
};

}  // namespace live::service::dash
