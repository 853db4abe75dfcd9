#include "io/st/timer_heap.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "io/st/core.hpp"

namespace live::io::st {

namespace {

constexpr std::size_t kChildren = 4;

}  // namespace

void TimerHeap::put(std::size_t index, Entry entry) {
    entries_[index] = entry;
    entry.thread->heap_index = static_cast<int>(index);
}

void TimerHeap::move_up(std::size_t index, Entry entry) {
    while (index > 0) {
        const std::size_t parent = (index - 1) / kChildren;
        if (entries_[parent].due <= entry.due)
            break;
        put(index, entries_[parent]);
        index = parent;
    }
    put(index, entry);
}

void TimerHeap::move_down(std::size_t index, Entry entry) {
    for (;;) {
        const std::size_t first_child = index * kChildren + 1;
        if (first_child >= entries_.size())
            break;
        const std::size_t end = std::min(first_child + kChildren, entries_.size());
        std::size_t least = first_child;
        for (std::size_t child = first_child + 1; child < end; ++child) {
            if (entries_[child].due < entries_[least].due)
                least = child;
        }
        if (entries_[least].due >= entry.due)
            break;
        put(index, entries_[least]);
        index = least;
    }
    put(index, entry);
}

void TimerHeap::add(_st_thread* thread, std::uint64_t due) {
    entries_.emplace_back();
    move_up(entries_.size() - 1, Entry{due, thread});
}

void TimerHeap::remove(_st_thread* thread) {
    const auto index = static_cast<std::size_t>(thread->heap_index);
    CHECK(index < entries_.size() && entries_[index].thread == thread);
    const Entry last = entries_.back();
    entries_.pop_back();
    if (index == entries_.size())
        return;
    if (index > 0 && entries_[(index - 1) / kChildren].due > last.due)
        move_up(index, last);
    else
        move_down(index, last);
}

}  // namespace live::io::st
