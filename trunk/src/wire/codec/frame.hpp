// Frame: what an elementary stream says next, in the form that MP4 and FLV share: its decoder configuration, or one access unit.
// Readers of containers give frames and writers take them, so that no container has to know another.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// Which of a stream's tracks of one kind; the default one is 0.
enum class TrackId : std::uint8_t {};

enum class Content : std::uint8_t {
    other,   // of no use to a decoder: the end of a sequence, a command, metadata
    config,  // avcC, hvcC, av1C, vpcC, AudioSpecificConfig, OpusHead, ...
    frame,   // length-prefixed NAL units, OBUs, raw AAC, a packet of Opus, ...
};

struct Frame {
    Codec codec = Codec::none;
    Content content = Content::frame;
    bool key = false;  // video that decoding may start at
    TrackId track{};
    MediaTime dts{};
    MediaTime cts{};  // presentation minus decoding time; may be negative
    Slice data{};
};

}  // namespace live::wire::codec
