// Numbers of SRT that wrap: packet sequence numbers of 31 bits and timestamps of 32 bits in microseconds. Both are widened to 64
// bits where they enter, relative to the newest one seen, and never compared narrow.
#pragma once

#include <cstdint>

namespace live::engine::srt {

inline constexpr std::uint32_t kSequenceMask = 0x7FFF'FFFF;

// The number whose low 31 bits are `narrow` and that is nearest to `near`. Positions start high enough not to become negative.
constexpr std::uint64_t widen_sequence(std::uint32_t narrow, std::uint64_t near) {
    const auto difference = static_cast<std::uint32_t>(narrow - static_cast<std::uint32_t>(near)) & kSequenceMask;
    const auto step = difference < 0x4000'0000 ? std::int64_t{difference} : std::int64_t{difference} - 0x8000'0000LL;
    return near + static_cast<std::uint64_t>(step);
}
constexpr std::uint32_t narrow_sequence(std::uint64_t wide) { return static_cast<std::uint32_t>(wide) & kSequenceMask; }
// Where counting begins for the initial sequence number of a handshake: far from zero, so that earlier positions exist.
constexpr std::uint64_t first_position(std::uint32_t narrow) { return (std::uint64_t{1} << 40) + (narrow & kSequenceMask); }

// The same for timestamps.
constexpr std::int64_t widen_timestamp(std::uint32_t narrow, std::int64_t near) {
    return near + static_cast<std::int32_t>(narrow - static_cast<std::uint32_t>(near));
}

}  // namespace live::engine::srt
