// PictureOrder: one rising line of stamps for pictures that come in the order of decoding, whatever the order they are shown in.
// The n-th picture gets the n-th time in the order of showing, held back by as many pictures as the stream is known to reorder:
// what a decoder shows when it has been given that picture. Without B-frames that is the picture's own time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace live::media {

class PictureOrder {
public:
    // No level of H.264 or HEVC reorders more.
    static constexpr std::size_t kDepthMax = 16;
    // Stamps rise by at least this.
    static constexpr MediaTime kStep{1'000};

    // Is this picture shown before one that came earlier? Only such pictures, B-frames, make the order differ.
    bool is_reordered(MediaTime shown) const { return shown < newest_; }
    // The stamp of the next picture in the order of decoding.
    MediaTime place(MediaTime shown);
    // How many pictures are held back, so far.
    std::size_t depth() const { return depth_; }

private:
    std::vector<MediaTime> recent_;   // times of showing, latest last, at most kDepthMax
    std::vector<MediaTime> waiting_;  // in order, at most depth_
    MediaTime newest_ = MediaTime::min();
    MediaTime last_ = MediaTime::min();
    std::size_t depth_ = 0;
};

}  // namespace live::media
