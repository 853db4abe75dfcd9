// RunOrder: whether a fiber that becomes runnable goes ahead of those that wait already. Urgent fibers do, in their own order;
// after some of them in a row, the others get a turn. Dry: the run queue is the caller's.
#pragma once

#include <cstdint>

namespace live::io::st {

class RunOrder {
public:
    // Urgent fibers in a row while others wait.
    static constexpr std::uint32_t kUrgentInRowMax = 64;

    // An urgent fiber becomes runnable. True: it is queued ahead of all fibers that are not urgent.
    bool queue_urgent() {
        if (waiting_ + in_row_ >= kUrgentInRowMax)
            return false;
        ++waiting_;
        return true;
    }
    // One that was queued ahead runs now.
    void run_urgent() {
        --waiting_;
        ++in_row_;
    }
    // Another fiber runs now.
    void run_other() { in_row_ = 0; }
    // Fibers that are queued ahead.
    std::uint32_t waiting() const { return waiting_; }

private:
    std::uint32_t waiting_ = 0;
    std::uint32_t in_row_ = 0;
};

}  // namespace live::io::st
