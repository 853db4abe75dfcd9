#include "media/slab_log.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"

namespace live::media {

SlabPool::Slab SlabPool::take() {
    ++in_use_;
    if (free_.empty())
        return std::make_unique_for_overwrite<std::uint8_t[]>(kSlabBytes);
    Slab slab = std::move(free_.back());
    free_.pop_back();
    return slab;
}

void SlabPool::give_back(Slab slab) {
    --in_use_;
    if (free_.size() < kFreeSlabsMax)
        free_.push_back(std::move(slab));
}

SlabLog::~SlabLog() {
    while (!slabs_.empty()) {
        pool_.give_back(std::move(slabs_.front()));
        slabs_.pop_front();
    }
}

void SlabLog::append(Bytes bytes) {
    while (!bytes.empty()) {
        const std::size_t offset = head_ % SlabPool::kSlabBytes;
        if (offset == 0)
            slabs_.push_back(pool_.take());
        const std::size_t count = std::min(bytes.size(), SlabPool::kSlabBytes - offset);
        std::memcpy(slabs_.back().get() + offset, bytes.data(), count);
        head_ += count;
        bytes = bytes.subspan(count);
    }
}

void SlabLog::drop_before(Position position) {
    CHECK(position >= tail_ && position <= head_);
    tail_ = position;
    while (!slabs_.empty() && (first_slab_ + 1) * SlabPool::kSlabBytes <= tail_) {
        pool_.give_back(std::move(slabs_.front()));
        slabs_.pop_front();
        ++first_slab_;
    }
}

std::size_t SlabLog::spans(Position from, Position to, std::span<::iovec> out) const {
    CHECK(from >= tail_ && from <= to && to <= head_);
    std::size_t count = 0;
    while (from < to && count < out.size()) {
        const std::size_t offset = from % SlabPool::kSlabBytes;
        const auto length = static_cast<std::size_t>(std::min<Position>(to - from, SlabPool::kSlabBytes - offset));
        const auto number = static_cast<std::size_t>(from / SlabPool::kSlabBytes - first_slab_);
        out[count++] = {slabs_[number].get() + offset, length};
        from += length;
    }
    return count;
}

}  // namespace live::media
