#include "app/memory/memory_trimmer.hpp"

#include <algorithm>
#include <cstdint>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "app/memory/process_usage.hpp"

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

void OverheadClock::note_lowest(TimePoint now, std::size_t overhead) {
    if (now - span_ >= kSpan) {
        lowest_before_ = now - span_ < 2 * kSpan ? lowest_ : 0;
        lowest_ = overhead;
        span_ = now;
    }
    lowest_ = std::min(lowest_, overhead);
}

bool OverheadClock::is_due(TimePoint now, Amounts current, std::size_t much, Supply supply) {
    left_ = std::min(left_, current.overhead);
    note_lowest(now, current.overhead);
    const auto times = std::max<std::int64_t>(1, (took_ + kQuick - Duration(1)) / kQuick);
    if (now - done_ < kRests * took_)
        return false;
    much = std::min(much, much_max_);
    if (current.overhead >= left_ + much) {
        has_grown_ = true;
        much_at_ = now;
        is_taken_again_ = is_taken_again_ || (returned_ > 0 && current.resident >= left_resident_ + std::max(returned_, much));
        return !is_taken_again_ || supply == Supply::scarce || std::min(lowest_, lowest_before_) >= left_ + much;
    }
    is_taken_again_ = is_taken_again_ && now - much_at_ < 2 * kSpan;
    if (is_taken_again_)
        return false;
    // The duration under load does not predict the duration afterwards.
    if (has_grown_ && now - done_ >= kEvery) {
        has_grown_ = false;
        return true;
    }
    return now - done_ >= kEvery * times && took_ <= kLongest;
}

void OverheadClock::note_done(TimePoint now, Amounts before, Amounts left, Duration took) {
    constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();
    returned_ = before.overhead - std::min(before.overhead, left.overhead);
    if (took > kGoal)
        much_max_ = std::max(
            kMuchMin, static_cast<std::size_t>(static_cast<double>(returned_) * (std::chrono::duration<double>(kGoal) / took)));
    else
        much_max_ = much_max_ > kUnbounded / 2 ? kUnbounded : much_max_ * 2;
    left_ = left.overhead;
    left_resident_ = left.resident;
    is_taken_again_ = false;
    done_ = now;
    took_ = took;
}

void keep_large_memory_apart() {
#ifdef __GLIBC__
    constexpr int kLargeBytes = 96 << 10;
    ::mallopt(M_MMAP_THRESHOLD, kLargeBytes);
#endif
}

Duration give_memory_back() {
    const Duration before = thread_processor_time();
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
    return thread_processor_time() - before;
}

}  // namespace live::app
