#include "app/memory_trimmer.hpp"

#include <algorithm>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace live::app {

bool TrimClock::is_due(TimePoint now, std::size_t held_bytes) {
    peak_ = std::max(peak_, held_bytes);
    if (once_more_at_ && now >= *once_more_at_) {
        once_more_at_.reset();
        done_ = now;
        return true;
    }
    if (peak_ - held_bytes < std::max(kWorthBytes, peak_ / kWorthPart)) {
        low_since_.reset();
        return false;
    }
    if (!low_since_)
        low_since_ = now;
    if (now - *low_since_ < kCalm || (done_ && now - *done_ < kEvery))
        return false;
    peak_ = held_bytes;
    low_since_.reset();
    done_ = now;
    once_more_at_ = now + kOnceMore;
    return true;
}

void keep_large_memory_apart() {
#ifdef __GLIBC__
    constexpr int kLargeBytes = 96 << 10;
    ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
#endif
}

void give_memory_back() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

}  // namespace live::app
