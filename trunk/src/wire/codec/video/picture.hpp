// Information from a sequence parameter set about its frames, common to all video codecs.
#pragma once

#include <cstdint>
#include <optional>

namespace live::wire::codec {

// Wider or higher frames are rejected: no level of any supported codec allows them.
inline constexpr std::uint32_t kPictureSideMax = 65'536;

struct SpsInfo {
    std::uint32_t width = 0;  // as displayed, after cropping
    std::uint32_t height = 0;
    std::uint8_t profile = 0;
    std::uint8_t level = 0;                   // in the codec's own units
    std::optional<double> frames_per_second;  // if the stream specifies it

    bool operator==(const SpsInfo&) const = default;
};

}  // namespace live::wire::codec
