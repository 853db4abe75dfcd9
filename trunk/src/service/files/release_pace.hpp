// ReleasePace: for a fiber that lets go of much memory. Freeing it all at once would hold the loop, and giving it back to the
// system longer still.
#pragma once

#include <chrono>
#include <cstddef>

#include "io/loop.hpp"

namespace live::service::files {

class ReleasePace {
public:
    static constexpr std::size_t kPortion = 4U << 20;
    static constexpr std::chrono::milliseconds kPause{50};

    explicit ReleasePace(io::Deadline deadline) : deadline_(deadline) {}

    // So many bytes more are freed; suspends behind a portion. When the fiber is cancelled nothing is waited for any more.
    void note_freed(std::size_t bytes) {
        freed_ += bytes;
        if (freed_ < kPortion || is_hurried_)
            return;
        freed_ = 0;
        is_hurried_ = !io::sleep(deadline_.sooner(io::Deadline::after(kPause))).ok();
    }

private:
    io::Deadline deadline_;
    std::size_t freed_ = 0;
    bool is_hurried_ = false;
};

}  // namespace live::service::files
