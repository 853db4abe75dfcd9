// The sleep queue: which thread is due when. A 4-ary heap in one array, because the core's linked heap misses the cache at every
// step (a timed wait beside 10,000 sleepers: 30 ns here, 170 ns there). Each thread stores its place in `heap_index`, so removal
// needs no search. It reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct _st_thread;

namespace live::io::st {

class TimerHeap {
public:
    // `due` in microseconds of the loop's clock. The thread must not be in the heap.
    void add(_st_thread* thread, std::uint64_t due);
    // The thread must be in the heap.
    void remove(_st_thread* thread);

    // The thread that is due first; nullptr when none sleeps.
    _st_thread* first() const { return entries_.empty() ? nullptr : entries_.front().thread; }
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry {
        std::uint64_t due;
        _st_thread* thread;
    };

    void put(std::size_t index, Entry entry);
    void move_up(std::size_t index, Entry entry);
    void move_down(std::size_t index, Entry entry);

    std::vector<Entry> entries_;
};

}  // namespace live::io::st
