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
    for (Piece& piece : pieces_)
        if (piece.slab != nullptr)
            pool_.give_back(std::move(piece.slab));
    if (open_ != nullptr)
        pool_.give_back(std::move(open_));
}

void SlabLog::append(Bytes bytes) {
    while (!bytes.empty()) {
        if (open_ == nullptr) {
            open_ = pool_.take();
            filled_ = 0;
            ++slabs_;
        }
        const std::size_t count = std::min(bytes.size(), SlabPool::kSlabBytes - filled_);
        fill_slab(bytes.first(count));
        bytes = bytes.subspan(count);
    }
}

void SlabLog::fill_slab(Bytes bytes) {
    std::uint8_t* const at = open_.get() + filled_;
    std::memcpy(at, bytes.data(), bytes.size());
    if (pieces_.empty() || !pieces_.back().shared.empty() || pieces_.back().data + pieces_.back().size != at)
        pieces_.push_back({head_, at, 0, nullptr, {}});
    pieces_.back().size += bytes.size();
    head_ += bytes.size();
    filled_ += bytes.size();
    if (filled_ == SlabPool::kSlabBytes)
        pieces_.back().slab = std::move(open_);
}

void SlabLog::append_shared(Slice slice) {
    if (slice.empty())
        return;
    pieces_.push_back({head_, slice.data(), slice.size(), nullptr, {}});
    head_ += slice.size();
    pieces_.back().shared = std::move(slice);
}

void SlabLog::drop_before(Position position) {
    CHECK(position >= tail_ && position <= head_);
    tail_ = position;
    for (; !pieces_.empty() && pieces_.front().end() <= tail_; pieces_.pop_front()) {
        if (pieces_.front().slab == nullptr)
            continue;
        pool_.give_back(std::move(pieces_.front().slab));
        --slabs_;
    }
}

std::deque<SlabLog::Piece>::const_iterator SlabLog::find(Position position) const {
    const auto after = std::ranges::upper_bound(pieces_, position, {}, &Piece::begin);
    return after == pieces_.begin() ? after : std::prev(after);
}

std::size_t SlabLog::spans(Position from, Position to, std::span<::iovec> out) const {
    CHECK(from >= tail_ && from <= to && to <= head_);
    std::size_t count = 0;
    for (auto piece = find(from); from < to && count < out.size(); ++piece) {
        const auto length = static_cast<std::size_t>(std::min(to, piece->end()) - from);
        out[count++] = {const_cast<std::uint8_t*>(piece->data + (from - piece->begin)), length};
        from += length;
    }
    return count;
}

std::unique_ptr<SlabLog> SlabLog::copy_of(Position from, Position to) const {
    CHECK(from >= tail_ && from <= to && to <= head_);
    auto copy = std::make_unique<SlabLog>(pool_);
    for (auto piece = find(from); from < to; ++piece) {
        const auto offset = static_cast<std::size_t>(from - piece->begin);
        const auto length = static_cast<std::size_t>(std::min(to, piece->end()) - from);
        if (piece->shared.empty())
            copy->append({piece->data + offset, length});
        else
            copy->append_shared(piece->shared.sub(offset, length));
        from += length;
    }
    return copy;
}

}  // namespace live::media
