// PictureOrder: monotonic timestamps for frames in decoding order, whatever their presentation order. The n-th frame gets the
// n-th presentation time, delayed by as many frames as the stream is known to reorder: the time of the frame a decoder outputs
// when it is given that frame. Without B-frames this is the frame's own time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace live::media {

class PictureOrder {
public:
    // No H.264 or HEVC level reorders more.
    static constexpr std::size_t kDepthMax = 16;
    // Timestamps increase by at least this much.
    static constexpr MediaTime kStep{1'000};

    // Whether this frame is presented before one that arrived earlier. Only such frames (B-frames) make the orders differ.
    bool is_reordered(MediaTime shown) const { return shown < newest_; }
    // The timestamp of the next frame in decoding order.
    MediaTime place(MediaTime shown);
    // How many frames are held back so far.
    std::size_t depth() const { return depth_; }

private:
    std::vector<MediaTime> recent_;   // presentation times, latest last, at most kDepthMax
    std::vector<MediaTime> waiting_;  // sorted, at most depth_
    MediaTime newest_ = MediaTime::min();
    MediaTime last_ = MediaTime::min();
    std::size_t depth_ = 0;
};

}  // namespace live::media
