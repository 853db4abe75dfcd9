// Decides when to return the allocator's unused memory to the system. TLS and DTLS handshakes and departed clients leave holes
// between live blocks, and the C library by itself returns only memory above the last used block. Trimming visits every hole,
// which holds the loop for some milliseconds: so it is done once after a wave of clients, when the load is calm, and not often.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/time.hpp"

namespace live::app {

class TrimClock {
public:
    // Smaller drops are not worth trimming, nor is a small part of the total, as streams free all the time.
    static constexpr std::size_t kWorthBytes = 2 << 20;
    static constexpr std::size_t kWorthPart = 4;
    static constexpr std::chrono::seconds kCalm{3};  // the level must have been that much lower for this long
    static constexpr std::chrono::seconds kEvery{30};
    // Each trim is repeated once after this time, for memory that is freed last and not part of `held_bytes`, such as sessions
    // whose client never connected.
    static constexpr std::chrono::seconds kOnceMore{40};

    // `held_bytes`: a representative part of what comes and goes in waves; to be called once per second. True when it is time to
    // trim, which then counts as done.
    bool is_due(TimePoint now, std::size_t held_bytes);

private:
    std::size_t peak_ = 0;  // since the last trim
    std::optional<TimePoint> low_since_;
    std::optional<TimePoint> done_;
    std::optional<TimePoint> once_more_at_;
};

// Decides the same by the memory that is resident but counted nowhere (the overhead): at once when it has grown by much since the
// last time, once more when it has not done so for a while, and otherwise every now and then, less often the longer it takes:
// memory that departed clients have freed stays resident without being more than before.
//
// Streams whose groups of pictures end together free as much at once as they take again until the next key frame; memory that is
// returned in between costs a page fault for each 4 KiB. If what was returned has been taken again, only overhead counts that has
// lasted for a while, unless memory is scarce.
class OverheadClock {
public:
    static constexpr std::chrono::seconds kEvery{30};
    // One that took n times as long is repeated n times as late; one that took longer than kLongest only when there is much to
    // return.
    static constexpr std::chrono::milliseconds kQuick{1};
    static constexpr std::chrono::milliseconds kLongest{4};
    // After one that took longer, less is much: as much as would have taken so long, but at least kMuchMin.
    static constexpr std::chrono::milliseconds kGoal{2};
    static constexpr std::size_t kMuchMin = 512U << 10;
    // The least pause until the next trim, as a multiple of the duration of one.
    static constexpr int kRests = 20;
    // Overhead has lasted if it did so for one to two of these spans.
    static constexpr std::chrono::seconds kSpan{8};

    struct Amounts {
        std::size_t resident = 0;
        std::size_t overhead = 0;  // part of it
    };
    enum class Supply : std::uint8_t { ample, scarce };

    bool is_due(TimePoint now, Amounts current, std::size_t much, Supply supply);
    // Memory was returned: that took so much CPU time.
    void note_done(TimePoint now, Amounts before, Amounts left, Duration took);

private:
    void note_lowest(TimePoint now, std::size_t overhead);

    std::size_t left_ = 0;
    std::size_t left_resident_ = 0;
    std::size_t returned_ = 0;  // by the last trim
    // The lowest overhead of the current span, and of the one before.
    std::size_t lowest_ = 0;
    std::size_t lowest_before_ = 0;
    TimePoint span_{};
    TimePoint much_at_{};  // when there was much last
    bool is_taken_again_ = false;
    std::size_t much_max_ = 4U << 20;
    TimePoint done_{};
    Duration took_{};
    bool has_grown_ = false;  // since it was calm
};

// Neither function has an effect where the C library does not support it.
//
// To be called once, early: blocks of 96 KiB or more (a large frame, an unfinished message of a peer) get their own mapping,
// which is returned to the system as soon as it is freed. The C library's own threshold grows to 32 MiB with use, and would
// scatter small long-lived blocks among large short-lived ones.
void keep_large_memory_apart();
// Returns the CPU time that it took.
Duration give_memory_back();

}  // namespace live::app
