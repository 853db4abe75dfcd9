// FrameBlocks: copies frames of one stream into memory that they share. Rings drop frames in order of arrival, so a block is
// freed as a whole, and hundreds of streams need no allocation for each frame (doc/adr/0020).
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/bytes/bytes.hpp"

namespace live::media {

class FrameBlocks {
public:
    static constexpr std::size_t kBlockBytes = 48U << 10;
    // A block is for so many frames of the size of its first, within these limits.
    static constexpr std::size_t kFramesInBlock = 8;
    static constexpr std::size_t kBlockBytesMin = 4'096;

    // The copy, and whether it shares its memory: a frame longer than half a block has its own.
    std::pair<Slice, bool> copy_of(Bytes frame) {
        constexpr std::size_t kAlignment = 16;
        if (frame.size() > kBlockBytes / 2)
            return {Slice::copy_of(frame), false};
        if (frame.size() > room_.size()) {
            block_ = Slice::allocate(std::clamp(kFramesInBlock * frame.size(), kBlockBytesMin, kBlockBytes));
            room_ = block_.mutable_bytes();
        }
        copy_bytes(frame, room_);
        Slice copy = block_.sub(block_.size() - room_.size(), frame.size());
        room_ = room_.subspan(std::min(room_.size(), (frame.size() + kAlignment - 1) / kAlignment * kAlignment));
        return {std::move(copy), true};
    }

private:
    Slice block_;
    MutBytes room_;  // the part of the block that is not in use
};

}  // namespace live::media
