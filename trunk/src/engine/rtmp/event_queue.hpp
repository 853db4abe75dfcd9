// A FIFO of events between the input that produced them and the session that polls them. Bounded by the input: an engine produces
// at most one event per message and gets the next input only after the queue is drained.
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
    // Returns the next event.
    std::optional<Event> poll() {
        if (next_ == events_.size())
            return std::nullopt;
        std::optional<Event> event(std::move(events_[next_++]));
        // Frees the memory after the last event. The next connection's events get the same block, while it is still in the CPU
        // cache.
        if (next_ == events_.size()) {
            events_ = std::vector<Event>();
            next_ = 0;
        }
        return event;
    }

private:
    // Enough for the events of a typical input, in a size that glibc's thread cache keeps (1,032 bytes) and reuses first.
    static constexpr std::size_t kReserved = 1000 / sizeof(Event);

    std::vector<Event> events_;
    std::size_t next_ = 0;
};

}  // namespace live::engine::rtmp
