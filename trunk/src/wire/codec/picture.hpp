// What a sequence parameter set says about its pictures, the same for every video codec.
#pragma once

#include <cstdint>
#include <optional>

namespace live::wire::codec {

// Pictures wider or higher than this are refused: no level of any codec here allows them.
inline constexpr std::uint32_t kPictureSideMax = 65'536;

struct SpsInfo {
    std::uint32_t width = 0;  // as shown: the cropping is taken off
    std::uint32_t height = 0;
    std::uint8_t profile = 0;
    std::uint8_t level = 0;                   // in the codec's own unit
    std::optional<double> frames_per_second;  // when the stream says so

    bool operator==(const SpsInfo&) const = default;
};

}  // namespace live::wire::codec
