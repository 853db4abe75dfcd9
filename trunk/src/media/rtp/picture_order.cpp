#include "media/rtp/picture_order.hpp"

#include <algorithm>

namespace live::media {

MediaTime PictureOrder::place(MediaTime shown) {
    const auto later = std::ranges::count_if(recent_, [&](MediaTime time) { return time > shown; });
    depth_ = std::max(depth_, static_cast<std::size_t>(later));
    if (recent_.size() == kDepthMax)
        recent_.erase(recent_.begin());
    recent_.push_back(shown);
    newest_ = std::max(newest_, shown);

    const MediaTime least = last_ == MediaTime::min() ? last_ : last_ + kStep;
    waiting_.insert(std::ranges::upper_bound(waiting_, shown), shown);
    // While the depth is still being learned, there are too few to take one from.
    MediaTime stamp = least;
    if (waiting_.size() > depth_) {
        stamp = std::max(waiting_.front(), least);
        waiting_.erase(waiting_.begin());
    }
    last_ = stamp;
    return stamp;
}

}  // namespace live::media
