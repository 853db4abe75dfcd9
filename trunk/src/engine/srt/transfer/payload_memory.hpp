// PayloadMemory: memory for received payloads, cut from blocks one after the other: an allocation for a dozen payloads instead of
// one for each. A payload keeps its block; payloads leave in the order in which they came, so one block too many is kept.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/bytes/bytes.hpp"

namespace live::engine::srt {

class PayloadMemory {
public:
    // With the header of an allocation, a dozen of the usual payloads of 1,316 bytes are as large as four pages.
    static constexpr std::size_t kBlockBytes = 12 * 1'316;

    struct Payload {
        Slice slice;
        MutBytes bytes;  // of the slice, to be written before it is shared
    };
    Payload carve(std::size_t size) {
        if (size > room_.size()) {
            block_ = Slice::allocate(std::max(size, kBlockBytes));
            room_ = block_.mutable_bytes();
        }
        Payload payload{block_.sub(block_.size() - room_.size(), size), room_.first(size)};
        room_ = room_.subspan(size);
        return payload;
    }

private:
    Slice block_;
    MutBytes room_;  // the part of the block that is not in use
};

}  // namespace live::engine::srt
