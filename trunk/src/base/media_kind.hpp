// MediaKind: audio, video or data. The one enumeration for this in all rooms, and a set of its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace live {

enum class MediaKind : std::uint8_t { audio, video, data };
inline constexpr std::size_t kMediaKindCount = 3;

constexpr std::size_t index_of(MediaKind kind) { return static_cast<std::size_t>(kind); }

// "audio", "video" or "data".
constexpr std::string_view name_of(MediaKind kind) {
    switch (kind) {
        case MediaKind::audio: return "audio";
        case MediaKind::video: return "video";
        case MediaKind::data: break;
    }
    return "data";
}

// A bit set of kinds.
class MediaKindSet {
public:
    static constexpr MediaKindSet all() {
        MediaKindSet set;
        set.bits_ = (1U << kMediaKindCount) - 1;
        return set;
    }
    constexpr bool has(MediaKind kind) const { return (bits_ & bit(kind)) != 0; }
    constexpr bool has_all(MediaKindSet others) const { return (others.bits_ & ~bits_) == 0; }
    constexpr void add(MediaKind kind) { bits_ = static_cast<std::uint8_t>(bits_ | bit(kind)); }
    constexpr void add(MediaKindSet others) { bits_ = static_cast<std::uint8_t>(bits_ | others.bits_); }
    constexpr void remove(MediaKind kind) { bits_ = static_cast<std::uint8_t>(bits_ & ~bit(kind)); }
    constexpr void clear() { bits_ = 0; }
    constexpr bool operator==(const MediaKindSet&) const = default;

private:
    static constexpr unsigned bit(MediaKind kind) { return 1U << index_of(kind); }
    std::uint8_t bits_ = 0;
};

}  // namespace live
