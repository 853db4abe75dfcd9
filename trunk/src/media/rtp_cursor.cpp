#include "media/rtp_cursor.hpp"

#include <utility>

#include "base/check.hpp"

namespace live::media {

RtpCursor::RtpCursor(Ref<Source> source)
    : source_(std::move(source)), lane_(source_->hold_rtp_lane()), next_(lane_.gop_start().value_or(lane_.next())) {
    lane_.add_listener(*this);
    if (!lane_.gop_start())
        lane_.want_key_frame();
}

RtpCursor::~RtpCursor() {
    lane_.remove_listener(*this);
    source_->release_rtp_lane();
}

const RtpPacket* RtpCursor::peek() {
    if (next_ < lane_.first())
        jump();
    return next_ < lane_.next() ? &lane_.at(next_) : nullptr;
}

void RtpCursor::advance() {
    CHECK(next_ < lane_.next());
    ++next_;
}

void RtpCursor::jump() {
    const auto key = lane_.gop_start();
    const bool is_ahead = key && *key > next_;
    const Sequence to = is_ahead ? *key : lane_.next();
    dropped_ += to - next_;
    next_ = to;
    if (!is_ahead)
        lane_.want_key_frame();
}

}  // namespace live::media
