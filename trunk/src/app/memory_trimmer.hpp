// When to give the system back what the allocator holds and nobody uses. Handshakes of TLS and DTLS and clients that have gone
// leave holes between what stays, and the C library gives back by itself only what lies behind all that is in use. Giving back
// looks at every hole, which holds the loop for some milliseconds: so it is done once behind a wave, when things are calm, and
// not often.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "base/time.hpp"

namespace live::app {

class TrimClock {
public:
    // A wave that has left less is not worth it, nor one that is a small part of what there is, which streams leave all the time.
    static constexpr std::size_t kWorthBytes = 2 << 20;
    static constexpr std::size_t kWorthPart = 4;
    static constexpr std::chrono::seconds kCalm{3};  // for so long the level must have been that much lower
    static constexpr std::chrono::seconds kEvery{30};
    // Behind each time once more, for what leaves last and is not asked about, such as sessions that nobody has come for.
    static constexpr std::chrono::seconds kOnceMore{40};

    // `held_bytes`: of what comes and goes in waves, a part that stands for the whole; asked about once a second. True when it is
    // time to give back: counts as done then.
    bool is_due(TimePoint now, std::size_t held_bytes);

private:
    std::size_t peak_ = 0;  // since it was done last
    std::optional<TimePoint> low_since_;
    std::optional<TimePoint> done_;
    std::optional<TimePoint> once_more_at_;
};

// Neither does anything where the C library cannot do it.
// Once, early: what takes 96 KiB or more, a large frame or a message that a peer does not finish, is mapped by itself and back
// with the system as soon as it is freed. The C library's own bound grows to 32 MiB with what it sees, and small things that stay
// would be scattered among large ones that go.
void keep_large_memory_apart();
void give_memory_back();

}  // namespace live::app
