// Frame: the next unit of an elementary stream, in the form that MP4 and FLV share: its decoder configuration, or one access
// unit. Container readers return frames and writers accept them, so that containers do not depend on each other.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// Selects one of a stream's tracks of one kind; the default track is 0.
enum class TrackId : std::uint8_t {};

enum class Content : std::uint8_t {
    other,   // not for the decoder: end of sequence, a command, metadata
    config,  // avcC, hvcC, av1C, vpcC, AudioSpecificConfig, OpusHead, ...
    frame,   // length-prefixed NAL units, OBUs, raw AAC, an Opus packet, ...
};

struct Frame {
    Codec codec = Codec::none;
    Content content = Content::frame;
    bool key = false;  // a video frame at which decoding may start
    TrackId track{};
    MediaTime dts{};
    MediaTime cts{};  // presentation time minus decoding time; may be negative
    Slice data{};
    bool shares_memory = false;  // with the frames around it, in a block of some 48 KiB
};

}  // namespace live::wire::codec
