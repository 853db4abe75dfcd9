// HeldEvents: the events of a segmenter's queue on a node that relays the stream. They stay in the queue until the origin has
// confirmed their segment, and are replaced if the segment is made again. Dry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "service/segments/segmenter_events.hpp"

namespace live::service::segments {

class HeldEvents {
public:
    // `queue` must outlive this. Only the segmenter appends to it, and only this removes events.
    explicit HeldEvents(std::vector<SegmenterEvent>& queue) : queue_(queue) {}

    // Reads the segmenter's new events. SegmentOpened leaves the queue: `on_opened` gets its state.
    template <class OnOpened>
    void collect(OnOpened&& on_opened) {
        while (collected_ < queue_.size()) {
            if (auto* opened = std::get_if<SegmentOpened>(&queue_[collected_])) {
                SegmentState state = std::move(opened->state);
                queue_.erase(at(collected_));
                on_opened(std::move(state));
            } else {
                ++collected_;
            }
        }
    }
    // Adds an event after those that were collected.
    void add(SegmenterEvent event) {
        queue_.insert(at(collected_), std::move(event));
        ++collected_;
    }

    // Segments with lower numbers are confirmed.
    void confirm_below(std::uint64_t number) { confirmed_ = number; }
    // The collected events need no confirmation.
    void release_all() { release_before(collected_); }
    // Removes and returns the events up to the first unconfirmed segment.
    std::vector<SegmenterEvent> take();
    // Collected segments that are not confirmed.
    std::size_t unconfirmed() const;

    std::size_t size() const { return queue_.size(); }
    // Drops the events at `index` and all following ones.
    void erase_from(std::size_t index);
    // Drops the events of segment `number` and the following ones, with the headers before them.
    void erase_segments(std::uint64_t number);
    // Drops unconfirmed segments. With `has_parts`, SegmentDropped takes their place: parts of the first may have been taken.
    void drop_unconfirmed(bool has_parts);

    // The sizes of the parts of segment `number` that take() has returned, or will return before the segment is confirmed.
    std::vector<std::size_t> released_parts(std::uint64_t number) const;
    // Drops these parts from the events from `index` on. False if the events have other parts.
    bool erase_parts(const std::vector<std::size_t>& parts, std::size_t index);

private:
    using Iterator = std::vector<SegmenterEvent>::iterator;

    Iterator at(std::size_t index) { return queue_.begin() + static_cast<std::ptrdiff_t>(index); }
    bool is_unconfirmed(const SegmenterEvent& event) const;
    void release_before(std::size_t index);

    std::vector<SegmenterEvent>& queue_;
    std::size_t released_ = 0;     // events that take() returns
    std::size_t collected_ = 0;    // events that this has read; at least `released_`
    std::uint64_t confirmed_ = 0;  // segments below this number are confirmed
    std::uint64_t parts_of_ = 0;   // the newest segment with released parts
    std::vector<std::size_t> parts_;
};

}  // namespace live::service::segments
