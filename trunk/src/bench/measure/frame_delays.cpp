#include "bench/measure/frame_delays.hpp"

#include <algorithm>

namespace live::bench {

void FrameDelays::restart(SystemMicros from) {
    frames_.clear();
    from_ = from;
}

void FrameDelays::add(std::uint64_t client, SystemMicros sent, std::chrono::microseconds delay) {
    if (sent < from_)
        return;
    // Clients are at most a few frames apart, so a search from the newest frame is short.
    auto place = frames_.end();
    while (place != frames_.begin() && std::prev(place)->sent >= sent)
        --place;
    if (place == frames_.end() || place->sent != sent) {
        if (frames_.size() >= kFramesMax)
            return;
        place = frames_.insert(place, {sent, 0, {}, {}});
    }
    ++place->arrivals;
    place->slowest = std::max(place->slowest, delay);
    if (client + 1 == clients_)
        place->newest = delay;
}

std::vector<double> FrameDelays::of_complete(std::chrono::microseconds Frame::*delay) const {
    std::vector<double> values;
    for (const Frame& frame : frames_) {
        if (frame.arrivals >= clients_)
            values.push_back(static_cast<double>((frame.*delay).count()) / 1e3);
    }
    return values;
}

std::vector<double> FrameDelays::newest_ms() const { return of_complete(&Frame::newest); }
std::vector<double> FrameDelays::slowest_ms() const { return of_complete(&Frame::slowest); }

std::size_t FrameDelays::incomplete() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(frames_, [this](const Frame& frame) { return frame.arrivals < clients_; }));
}

}  // namespace live::bench
