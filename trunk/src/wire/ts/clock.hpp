// The clocks of a transport stream (ISO/IEC 13818-1, 2.4.2): 33 bits at 90 kHz for presentation and decoding times, 27 MHz for
// the program clock reference. All of them wrap after 26.5 hours; only differences are meaningful.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace live::wire::ts {

inline constexpr std::uint64_t kTicksMask = 0x1'FFFF'FFFF;

// Converts a media time, which may be negative, to 90 kHz ticks.
constexpr std::uint64_t ticks_of(MediaTime time) {
    const std::int64_t scaled = time.count() * 9;
    const std::int64_t down = scaled / 100 - (scaled % 100 < 0 ? 1 : 0);
    return static_cast<std::uint64_t>(down) & kTicksMask;
}

// The media time of 90 kHz ticks that do not wrap, rounded down.
constexpr MediaTime time_of(std::int64_t ticks) {
    const std::int64_t scaled = ticks * 100;
    return MediaTime(scaled / 9 - (scaled % 9 < 0 ? 1 : 0));
}

// Takes the wrapping times of one program, in any order, to one line: each is the nearest to the one before.
class TickLine {
public:
    std::int64_t place(std::uint64_t ticks) {
        if (!placed_) {
            placed_ = true;
            last_ = static_cast<std::int64_t>(ticks & kTicksMask);
            return last_;
        }
        const std::uint64_t ahead = (ticks - static_cast<std::uint64_t>(last_)) & kTicksMask;
        last_ += static_cast<std::int64_t>(ahead) - (ahead > kTicksMask / 2 ? static_cast<std::int64_t>(kTicksMask) + 1 : 0);
        return last_;
    }

private:
    bool placed_ = false;
    std::int64_t last_ = 0;
};

// The program clock reference of a media time: 90 kHz ticks plus an extension of 0 to 299 ticks at 27 MHz.
struct ClockReference {
    std::uint64_t base = 0;
    std::uint16_t extension = 0;

    bool operator==(const ClockReference&) const = default;
};

constexpr ClockReference clock_reference_of(MediaTime time) {
    const std::int64_t rest = (time.count() * 27 % 300 + 300) % 300;
    return {ticks_of(time), static_cast<std::uint16_t>(rest)};
}

}  // namespace live::wire::ts
