#include "wire/rtp_payload/frame_builder.hpp"

#include <algorithm>
#include <utility>

namespace live::wire::rtp_payload {

namespace {

// Memory of a frame that has ended, for the next one of any stream: it is warm, and needs no allocation.
constexpr std::size_t kSpareBytesMax = 32U << 10;
std::vector<std::uint8_t>& spare() {
    thread_local std::vector<std::uint8_t> memory;
    return memory;
}

}  // namespace

void FrameBuilder::recycle(std::vector<std::uint8_t> data) {
    if (data.capacity() <= spare().capacity() || data.capacity() > kSpareBytesMax)
        return;
    data.clear();
    spare() = std::move(data);
}

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
    recycle(std::exchange(frame_.data, {}));
    frame_ = Frame{.timestamp = fragment.timestamp, .first_sequence = fragment.sequence, .data = std::exchange(spare(), {})};
    frame_.data.reserve(usual_bytes_);
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
    // A key frame is longer than the frames around it.
    usual_bytes_ = std::min(frame_.data.size(), std::max(2 * usual_bytes_, kUsualBytesMin));
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
