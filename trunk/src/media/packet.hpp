// Packet: one access unit of one kind on a source's timeline. The payload is the body that RTMP and FLV carry (the codec header
// of the FLV tag in front), because every publisher so far speaks it natively; other lanes get converters. A Packet is a small
// value: copying it copies a counter, never the media.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace live::media {

enum class Kind : std::uint8_t { audio, video, data };
inline constexpr std::size_t kKindCount = 3;

// A set of kinds as bits.
class KindSet {
public:
    static constexpr KindSet all() {
        KindSet set;
        set.bits_ = (1U << kKindCount) - 1;
        return set;
    }
    bool has(Kind kind) const { return (bits_ & bit(kind)) != 0; }
    bool has_all(KindSet others) const { return (others.bits_ & ~bits_) == 0; }
    void add(Kind kind) { bits_ = static_cast<std::uint8_t>(bits_ | bit(kind)); }
    void remove(Kind kind) { bits_ = static_cast<std::uint8_t>(bits_ & ~bit(kind)); }
    void clear() { bits_ = 0; }
    bool operator==(const KindSet&) const = default;

private:
    static constexpr unsigned bit(Kind kind) { return 1U << static_cast<unsigned>(kind); }
    std::uint8_t bits_ = 0;
};

struct Packet {
    Kind kind = Kind::data;
    bool key = false;     // a video access unit that decoding may start at
    bool config = false;  // a sequence header or the metadata: a late joiner needs the newest one
    MediaTime dts{};
    Slice payload;
    TimePoint arrived{};  // at this server; the source stamps it
};

// Whole milliseconds, rounded down.
inline std::int64_t to_ms(MediaTime time) { return std::chrono::floor<std::chrono::milliseconds>(time).count(); }

inline std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }

}  // namespace live::media
