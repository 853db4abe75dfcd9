#include "media/ring/track_aligner.hpp"

#include <algorithm>
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
    first_.reset();
    missing_ = 0;
    is_active_ = false;
}

// A rendition without packets here has released all up to its newest one.
bool TrackAligner::is_awaited(const Queue& queue) const {
    return is_active_ && queue.is_rendition && queue.packets.empty() && newest_ - queue.newest <= kLagMax;
}

bool TrackAligner::may_release(MediaTime at) const {
    if (missing_ > 0 && first_ && newest_ - *first_ <= kLagMax)
        return false;
    return std::ranges::none_of(queues_, [&](const Queue& queue) { return is_awaited(queue) && queue.newest < at; });
}

// Returns whether the packet is in time. A rendition that was not waited for continues at its next key frame.
bool TrackAligner::note_time(Queue& queue, const Packet& packet) {
    if (!queue.is_rendition) {
        newest_ = std::max(newest_, packet.dts);
        first_ = first_.value_or(packet.dts);
        return true;
    }
    queue.newest = packet.dts;
    if (packet.is_config())
        return true;
    queue.is_late = (position_ && packet.dts < *position_) || (queue.is_late && !packet.key);
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
    const auto arrived = std::ranges::count_if(queues_, &Queue::is_rendition);
    missing_ = renditions.expected - std::min<std::size_t>(renditions.expected, static_cast<std::size_t>(arrived));
    if (!note_time(queue, packet))
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
    // If times are equal, the stream's own packet is first: its key frame begins a segment.
    Queue* next = nullptr;
    for (Queue& queue : queues_) {
        if (queue.packets.empty())
            continue;
        const auto rank = [](const Queue& one) { return std::pair(one.packets.front().dts, one.is_rendition); };
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
