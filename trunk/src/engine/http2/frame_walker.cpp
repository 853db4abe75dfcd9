#include "engine/http2/frame_walker.hpp"

#include <algorithm>

namespace live::engine::http2 {

std::optional<FrameWalker::Head> FrameWalker::next(Bytes& input) {
    const std::size_t skipped = std::min(skipped_, input.size());
    skipped_ -= skipped;
    input = input.subspan(skipped);
    const std::size_t count = std::min(kHeadBytes - has_, input.size());
    copy_bytes(input.first(count), MutBytes(head_).subspan(has_));
    has_ += count;
    input = input.subspan(count);
    if (has_ < kHeadBytes)
        return std::nullopt;
    has_ = 0;
    skipped_ = std::size_t{head_[0]} << 16 | std::size_t{head_[1]} << 8 | head_[2];
    const std::uint32_t stream =
        std::uint32_t{head_[5]} << 24 | std::uint32_t{head_[6]} << 16 | std::uint32_t{head_[7]} << 8 | head_[8];
    return Head{skipped_, head_[3], head_[4], stream & 0x7fff'ffffu};
}

}  // namespace live::engine::http2
