// Sample: one access unit as an MP4 file carries it. H.264 and HEVC keep the lengths in front of their NAL units, so the bytes
// are those of the frame, shared and never copied before they are written.
#pragma once

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace live::wire::mp4 {

struct Sample {
    MediaTime dts{};
    MediaTime pts{};
    bool key = false;  // decoding may start here; audio always can
    Slice data;
};

}  // namespace live::wire::mp4
