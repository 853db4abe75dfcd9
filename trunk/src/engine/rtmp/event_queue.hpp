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
        if (events_.capacity() == 0)
            events_.reserve(kReserved);
        events_.emplace_back(std::forward<T>(event));
    }
    std::optional<Event> poll() {
        if (next_ == events_.size())
            return std::nullopt;
        std::optional<Event> event(std::move(events_[next_++]));
        // The last one gives the memory back. The next connection's events take the same, which the cache still holds.
        if (next_ == events_.size()) {
            events_ = std::vector<Event>();
            next_ = 0;
        }
        return event;
    }

private:
    // The events of a usual input, in what the thread cache of glibc takes (1,032 bytes) and gives out again first.
    static constexpr std::size_t kReserved = 1000 / sizeof(Event);

    std::vector<Event> events_;
    std::size_t next_ = 0;
};

}  // namespace live::engine::rtmp
