#include "media/ring/track_aligner.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace live::media {

TrackAligner::Queue& TrackAligner::queue_of(const Packet& packet, bool is_rendition) {
    const auto is_its = [&packet](const Queue& queue) { return queue.kind == packet.kind && queue.id == packet.track; };
    const auto found = std::ranges::find_if(queues_, is_its);
    Queue& queue = found == queues_.end() ? queues_.emplace_back() : *found;
    queue.kind = packet.kind;
    queue.id = packet.track;
    queue.is_rendition = is_rendition;
    return queue;
}

void TrackAligner::restart() {
    queues_.clear();
    ready_.clear();
    bytes_ = 0;
    first_.reset();
    position_.reset();
    missing_ = 0;
    is_active_ = flushes_ = false;
}

// A rendition without packets here has released all up to its newest one.
bool TrackAligner::is_awaited(const Queue& queue) const {
    return is_active_ && queue.is_rendition && queue.has_frames && queue.packets.empty() && newest_ - queue.newest <= kLagMax;
}

bool TrackAligner::may_release(MediaTime at) const {
    if (missing_ > 0 && first_ && newest_ - *first_ <= kLagMax)
        return false;
    return std::ranges::none_of(queues_, [&](const Queue& queue) { return is_awaited(queue) && queue.newest < at; });
}

// Returns whether the packet is in time. A rendition continues at its next key frame if it was not waited for, or if the stream
// begins here within its GOP. The times of configurations are those of the node that sends them.
bool TrackAligner::note_time(Queue& queue, const Packet& packet) {
    if (packet.is_config())
        return true;
    if (!queue.is_rendition) {
        newest_ = first_ ? std::max(newest_, packet.dts) : packet.dts;
        first_ = first_.value_or(packet.dts);
        return true;
    }
    queue.has_frames = true;
    queue.newest = packet.dts;
    const bool is_before = !first_ || packet.dts < std::max(*first_, position_.value_or(*first_));
    queue.is_late = is_before || (queue.is_late && !packet.key);
    return !queue.is_late;
}

void TrackAligner::push(const Packet& packet, const Renditions& renditions) {
    is_active_ = renditions.expected > 0 || renditions.present > 0;
    const bool is_media = packet.kind != MediaKind::data && packet.content != Content::other;
    if (!is_media || (!is_active_ && bytes_ == 0 && !renditions.has_packet)) {
        ready_.push_back(packet);
        return;
    }
    Queue& queue = queue_of(packet, renditions.has_packet);
    const bool is_in_time = note_time(queue, packet);
    const auto has_arrived = [](const Queue& one) { return one.is_rendition && one.has_frames; };
    const auto arrived = static_cast<std::size_t>(std::ranges::count_if(queues_, has_arrived));
    missing_ = renditions.expected - std::min(renditions.expected, arrived);
    if (!is_in_time)
        return;
    // A configuration is not held, so that the first segment has its track.
    if (packet.is_config() && queue.packets.empty()) {
        ready_.push_back(packet);
        return;
    }
    bytes_ += packet.payload.size();
    queue.packets.push_back(packet);
}

std::optional<Packet> TrackAligner::pop() {
    if (!ready_.empty()) {
        Packet packet = std::move(ready_.front());
        ready_.pop_front();
        return packet;
    }
    // If times are equal, the stream's own video is first: its key frame begins a segment.
    Queue* next = nullptr;
    for (Queue& queue : queues_) {
        if (queue.packets.empty())
            continue;
        const auto rank = [](const Queue& one) {
            return std::tuple(one.packets.front().dts, one.is_rendition, one.kind != MediaKind::video, one.id);
        };
        if (next == nullptr || rank(queue) < rank(*next))
            next = &queue;
    }
    const bool releases_all = flushes_ || bytes_ > kBytesMax;
    if (next == nullptr || (!releases_all && !may_release(next->packets.front().dts))) {
        flushes_ = flushes_ && next != nullptr;
        return std::nullopt;
    }
    Packet packet = std::move(next->packets.front());
    next->packets.pop_front();
    bytes_ -= packet.payload.size();
    position_ = std::max(position_.value_or(packet.dts), packet.dts);
    return packet;
}

}  // namespace live::media
