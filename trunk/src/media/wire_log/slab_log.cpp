#include "media/wire_log/slab_log.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <sys/mman.h>

#include "base/check.hpp"

namespace live::media {

SlabPool::~SlabPool() {
    CHECK(in_use_ == 0);
    for (std::uint8_t* region : regions_)
        ::munmap(region, kRegionSlabs * kSlabBytes);
}

SlabPool::Slab SlabPool::take() {
    if (free_.empty() && empty_.empty())
        map_region();
    auto& from = free_.empty() ? empty_ : free_;
    Slab slab(from.back(), Return{this});
    from.pop_back();
    free_min_ = std::min(free_min_, free_.size());
    ++in_use_;
    return slab;
}

void SlabPool::put_back(std::uint8_t* slab) {
    --in_use_;
    free_.push_back(slab);
}

void SlabPool::map_region() {
    constexpr std::size_t kBytes = kRegionSlabs * kSlabBytes;
    void* const region = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(region != MAP_FAILED);
    regions_.push_back(static_cast<std::uint8_t*>(region));
    for (std::size_t i = kRegionSlabs; i-- > 0;)
        empty_.push_back(regions_.back() + i * kSlabBytes);
}

std::size_t SlabPool::surplus() const {
    const std::size_t kept = std::min(free_.size(), std::max(kKeptMin, in_use_ / kKeptPart));
    return std::max(free_.size() - kept, std::min(aged_, free_.size()));
}

void SlabPool::age() { aged_ = std::exchange(free_min_, free_.size()); }

bool SlabPool::give_back_unused() {
    const auto count = static_cast<std::ptrdiff_t>(std::min(surplus(), kGivenBackAtOnce));
    // The ones unused for longest.
    for (std::uint8_t* slab : std::span(free_).first(static_cast<std::size_t>(count))) {
        ::madvise(slab, kSlabBytes, MADV_DONTNEED);
        empty_.push_back(slab);
    }
    free_.erase(free_.begin(), free_.begin() + count);
    free_min_ = std::min(free_min_, free_.size());
    aged_ -= std::min(aged_, static_cast<std::size_t>(count));
    return surplus() > 0;
}

void SlabLog::append(Bytes bytes) {
    while (!bytes.empty()) {
        if (open_ == nullptr) {
            open_ = pool_.take();
            filled_ = 0;
            ++slabs_;
        }
        const std::size_t count = std::min(bytes.size(), SlabPool::kSlabBytes - filled_);
        std::uint8_t* const at = open_.get() + filled_;
        std::memcpy(at, bytes.data(), count);
        if (pieces_.empty() || filled_ == 0 || !pieces_.back().shared.empty() || pieces_.back().data + pieces_.back().size != at)
            pieces_.push_back({head_, at, 0, nullptr, {}, false});
        pieces_.back().size += count;
        head_ += count;
        filled_ += count;
        if (filled_ == SlabPool::kSlabBytes)
            pieces_.back().slab = std::move(open_);
        bytes = bytes.subspan(count);
    }
}

void SlabLog::append_shared(Slice slice) {
    if (slice.empty())
        return;
    pieces_.push_back({head_, slice.data(), slice.size(), nullptr, {}, false});
    head_ += slice.size();
    pieces_.back().shared = std::move(slice);
}

void SlabLog::append_owned(Slice slice) {
    if (slice.empty())
        return;
    owned_bytes_ += slice.size();
    append_shared(std::move(slice));
    pieces_.back().is_owned = true;
}

void SlabLog::drop_before(Position position) {
    CHECK(position >= tail_ && position <= head_);
    tail_ = position;
    for (; !pieces_.empty() && pieces_.front().end() <= tail_; pieces_.pop_front()) {
        Piece& piece = pieces_.front();
        slabs_ -= piece.slab != nullptr ? 1 : 0;
        owned_bytes_ -= piece.is_owned ? piece.size : 0;
        pool_.recycle(std::move(piece.shared));
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
