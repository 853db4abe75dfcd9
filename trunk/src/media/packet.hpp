// Packet: one access unit or configuration of one track on a source's timeline, parsed once, where it came in. The payload is the
// body that RTMP and FLV carry, so that they relay it as it is; everybody else takes frame(), which is behind its head. A Packet
// is a small value: copying it copies a counter, never the media.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/time.hpp"
#include "wire/codec/frame.hpp"

namespace live::media {

using wire::codec::Codec;
using wire::codec::Content;
using wire::codec::TrackId;

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
    // Microseconds in four bytes; what is beyond them (35 minutes) is not presented in order anyway.
    using Offset = std::chrono::duration<std::int32_t, std::micro>;

    Kind kind = Kind::data;
    Content content = Content::other;
    bool key = false;    // a video access unit that decoding may start at
    bool extra = false;  // not of its kind's default track: only for readers that know tracks; the source sets it
    Codec codec = Codec::none;
    TrackId track{};
    std::uint16_t head = 0;  // bytes of payload in front of the frame: the tag's header
    MediaTime dts{};
    [[no_unique_address]] Slice payload;  // cts uses what is free at its end
    Offset cts{};                         // presentation minus decoding time
    TimePoint arrived{};                  // at this server; the source stamps it

    // A sequence header or the metadata: a late joiner needs the newest one.
    bool is_config() const { return content == Content::config; }
    std::size_t frame_bytes() const {
        CHECK(head <= payload.size());
        return payload.size() - head;
    }
    Bytes frame() const { return payload.bytes().subspan(head, frame_bytes()); }
    Slice frame_slice() const { return payload.sub(head, frame_bytes()); }
};

// As writers of containers take it. The bytes are shared.
inline wire::codec::Frame frame_of(const Packet& packet) {
    return {.codec = packet.codec,
            .content = packet.content,
            .key = packet.key,
            .track = packet.track,
            .dts = packet.dts,
            .cts = packet.cts,
            .data = packet.frame_slice()};
}

// Whole milliseconds, rounded down.
inline std::int64_t to_ms(MediaTime time) { return std::chrono::floor<std::chrono::milliseconds>(time).count(); }

inline std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }

}  // namespace live::media
