#include "wire/rtp_payload/frame_builder.hpp"

#include <utility>

namespace live::wire::rtp_payload {

bool FrameBuilder::admit(const Fragment& fragment, bool may_begin) {
    // A duplicate or late packet.
    if (last_sequence_ && fragment.sequence <= *last_sequence_)
        return false;
    const bool is_gap = !last_sequence_ || fragment.sequence != *last_sequence_ + 1;
    const bool is_loss = is_gap && last_sequence_;
    last_sequence_ = fragment.sequence;
    follows_loss_ = follows_loss_ || is_loss;
    if (is_gap && open_)
        lose();
    if (open_ && fragment.timestamp != frame_.timestamp)
        complete();
    if (open_)
        return true;
    if (skipped_timestamp_ == fragment.timestamp)
        return false;
    skipped_timestamp_.reset();
    frame_ = Frame{.timestamp = fragment.timestamp, .first_sequence = fragment.sequence, .data = {}};
    open_ = true;
    unfinished_ = false;
    if (is_gap && !may_begin)
        lose();
    return open_;
}

void FrameBuilder::append(Bytes bytes) {
    if (!open_)
        return;
    if (bytes.size() > kFrameBytesMax - frame_.data.size()) {
        lose();
        return;
    }
    frame_.data.insert(frame_.data.end(), bytes.begin(), bytes.end());
}

void FrameBuilder::lose() {
    if (!open_)
        return;
    open_ = false;
    ++lost_;
    follows_loss_ = true;
    skipped_timestamp_ = frame_.timestamp;
    frame_.data.clear();
}

void FrameBuilder::complete() {
    if (unfinished_) {
        lose();
        return;
    }
    open_ = false;
    if (frame_.data.empty())
        return;
    frame_.follows_loss = std::exchange(follows_loss_, false);
    ready_.push_back(std::exchange(frame_, {}));
}

void FrameBuilder::finish(const Fragment& fragment) {
    if (!open_)
        return;
    frame_.last_sequence = fragment.sequence;
    if (fragment.marker)
        complete();
}

std::optional<Frame> FrameBuilder::poll() {
    if (ready_.empty())
        return std::nullopt;
    Frame frame = std::move(ready_.front());
    ready_.erase(ready_.begin());
    return frame;
}

}  // namespace live::wire::rtp_payload
