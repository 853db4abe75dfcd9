// Events in order, between the input that made them and the session that polls them. Bounded by the input: an engine makes at
// most one event a message and is given the next input only after the queue is drained.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace live::engine::rtmp {

template <class Event>
class EventQueue {
public:
    template <class T>
    void push(T&& event) {
        events_.emplace_back(std::forward<T>(event));
    }
    std::optional<Event> poll() {
        if (next_ == events_.size()) {
            if (events_.capacity() > kKept)
                events_ = std::vector<Event>();
            events_.clear();
            next_ = 0;
            return std::nullopt;
        }
        return std::move(events_[next_++]);
    }
    // Gives the memory back when nothing is queued.
    void release() {
        if (next_ == events_.size()) {
            events_ = std::vector<Event>();
            next_ = 0;
        }
    }

private:
    // A usual input makes fewer events than this; room for more is not kept.
    static constexpr std::size_t kKept = 256;

    std::vector<Event> events_;
    std::size_t next_ = 0;
};

}  // namespace live::engine::rtmp
