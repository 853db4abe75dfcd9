// Sample: one access unit in the form of an MP4 file. H.264 and HEVC keep their length-prefixed NAL units, so the data is that of
// the frame, shared and not copied until it is written.
#pragma once

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"

namespace live::wire::mp4 {

struct Sample {
    MediaTime dts{};
    MediaTime pts{};
    bool key = false;  // decoding may start here; always true for audio
    Slice data;
};

}  // namespace live::wire::mp4
