#include "service/dash/promises.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace live::service::dash {

std::size_t Segment::bytes() const {
    return std::accumulate(tracks.begin(), tracks.end(), std::size_t{0},
                           [](std::size_t sum, const TrackPiece& piece) { return sum + piece.bytes; });
}

std::size_t Segment::held_bytes() const { return tracks.empty() || !tracks.front().held.file ? 0 : bytes(); }

void Promises::set_tracks(std::vector<std::string> tracks) {
    tracks_ = std::move(tracks);
    for (Segment& segment : segments_)
        add_tracks(segment);
}

void Promises::make(std::uint64_t number) {
    for (; !segments_.empty() && segments_.front().number != number; segments_.pop_front())
        for (const TrackPiece& piece : segments_.front().tracks)
            abandon(piece);
    for (std::uint64_t next = number + segments_.size(); next <= number + kAhead; ++next) {
        segments_.emplace_back().number = next;
        add_tracks(segments_.back());
    }
}

// Gives the segment exactly the current tracks.
void Promises::add_tracks(Segment& segment) {
    std::vector<TrackPiece> before = std::exchange(segment.tracks, {});
    for (const std::string& track : tracks_) {
        TrackPiece& piece = segment.tracks.emplace_back();
        piece.held.path = fmt::format("{}{}-{}.m4s", folder_, track, segment.number);
        const auto known = std::ranges::find(before, piece.held.path, [](const TrackPiece& old) { return old.held.path; });
        if (known != before.end())
            piece.held.file = std::exchange(known->held.file, nullptr);
        else
            piece.held.file = store_.add(piece.held.path, stream_);
    }
    for (const TrackPiece& old : before)
        abandon(old);
}

std::optional<Segment> Promises::take(std::uint64_t number) {
    if (segments_.empty() || segments_.front().number != number)
        return std::nullopt;
    Segment segment = std::move(segments_.front());
    segments_.pop_front();
    return segment;
}

void Promises::abandon(const TrackPiece& piece) {
    if (piece.held.file == nullptr)
        return;
    piece.held.file->end();
    store_.remove(piece.held.path, piece.held.file);
}

void Promises::abandon_all() {
    for (const Segment& segment : segments_)
        for (const TrackPiece& piece : segment.tracks)
            abandon(piece);
    segments_.clear();
}

}  // namespace live::service::dash
