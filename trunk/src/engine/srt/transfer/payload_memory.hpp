// PayloadMemory: memory for received payloads, cut from blocks one after the other. A block is used again when its payloads are
// gone; they leave in the order in which they came, so a connection goes round a few blocks, which stay in the cache.
#pragma once

#include <cstddef>
#include <utility>

#include "base/bytes/bytes.hpp"
#include "engine/srt/transfer/sequence_ring.hpp"

namespace live::engine::srt {

class PayloadMemory {
public:
    // A dozen of the usual payloads.
    static constexpr std::size_t kBlockBytes = 12 * 1'316;

    struct Payload {
        Slice slice;
        MutBytes bytes;  // of the slice, to be written before it is shared
    };
    // `size`: at most kBlockBytes.
    Payload carve(std::size_t size) {
        CHECK(size <= kBlockBytes);
        if (blocks_.empty() || size > room_.size())
            next_block();
        const Slice& block = blocks_[blocks_.end() - 1];
        Payload payload{block.sub(block.size() - room_.size(), size), room_.first(size)};
        room_ = room_.subspan(size);
        return payload;
    }
    // All blocks, in use or not.
    std::size_t held_bytes() const { return blocks_.size() * kBlockBytes; }

private:
    void next_block() {
        Slice block;
        // Further ones without payloads are given back: the buffer has become shorter.
        while (!blocks_.empty() && blocks_[blocks_.begin()].is_alone())
            block = blocks_.pop_front();
        if (block.empty())
            block = Slice::allocate(kBlockBytes);
        room_ = block.mutable_bytes();
        blocks_.push_back(std::move(block));
    }

    SequenceRing<Slice> blocks_{0};  // oldest first
    MutBytes room_;                  // the part of the newest block that is not in use
};

}  // namespace live::engine::srt
