// Frames built in one line, for tests.
#pragma once

#include "base/bytes/bytes.hpp"
#include "wire/codec/frame.hpp"

namespace live::wire::codec::frames {

inline Frame config(Codec codec, Bytes record, std::uint8_t track = 0) {
    return {.codec = codec, .content = Content::config, .track = TrackId(track), .data = Slice::copy_of(record)};
}
inline Frame key(Codec codec, Bytes data, MediaTime cts = {}, std::uint8_t track = 0) {
    return {.codec = codec, .key = true, .track = TrackId(track), .cts = cts, .data = Slice::copy_of(data)};
}
inline Frame inter(Codec codec, Bytes data, MediaTime cts = {}) {
    return {.codec = codec, .cts = cts, .data = Slice::copy_of(data)};
}
inline Frame audio(Codec codec, Bytes data) { return {.codec = codec, .data = Slice::copy_of(data)}; }
inline Frame other(Codec codec, Bytes data = {}) {
    return {.codec = codec, .content = Content::other, .data = Slice::copy_of(data)};
}

// For fuzzers: one byte each for the codec, the content and the composition time, then the data.
inline Frame any(Bytes input) {
    constexpr std::size_t kHead = 3;
    if (input.size() < kHead)
        return {};
    constexpr unsigned kCodecs = static_cast<unsigned>(Codec::unknown) + 1;
    return {.codec = static_cast<Codec>(input[0] % kCodecs),
            .content = static_cast<Content>(input[1] % 3),
            .key = (input[1] & 0x80) != 0,
            .track = TrackId(static_cast<std::uint8_t>(input[1] >> 5 & 1)),
            .cts = std::chrono::milliseconds(static_cast<std::int8_t>(input[2])),
            .data = Slice::copy_of(input.subspan(kHead))};
}

}  // namespace live::wire::codec::frames
