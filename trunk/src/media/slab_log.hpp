// SlabLog: an endless sequence of bytes, addressed by a position that starts at zero and never wraps. Appending copies once, into
// slabs of 64 KiB; large payloads are appended by reference. Reading returns a span for each slab or reference touched. Old bytes
// are dropped by whole slabs and references.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <sys/uio.h>

#include "base/bytes.hpp"

namespace live::media {

// What the sources of the process hold at the moment.
struct SourceTotals {
    std::size_t sources = 0;
    std::size_t packets = 0;  // in rings
    std::size_t packet_bytes = 0;
};

// Free slabs, one pool per process, so that logs come and go without heap allocation.
class SlabPool {
public:
    static constexpr std::size_t kSlabBytes = 64 * 1024;
    static constexpr std::size_t kFreeSlabsMax = 64;
    using Slab = std::unique_ptr<std::uint8_t[]>;

    Slab take();
    void give_back(Slab slab);
    // Frees the unused slabs.
    void release() { free_.clear(); }
    // Slabs currently used by logs.
    std::size_t in_use() const { return in_use_; }
    std::size_t free() const { return free_.size(); }
    // Sources count here, because the pool is the one object shared by all of a process.
    SourceTotals& totals() { return totals_; }
    const SourceTotals& totals() const { return totals_; }

private:
    std::vector<Slab> free_;
    std::size_t in_use_ = 0;
    SourceTotals totals_;
};

class SlabLog {
public:
    using Position = std::uint64_t;

    // From this size on a payload is appended by reference: a copy would hold the loop. Such slices have memory of their own.
    static constexpr std::size_t kSharedMin = Slice::kOwnPagesMin;

    explicit SlabLog(SlabPool& pool) : pool_(pool) {}
    ~SlabLog();
    SlabLog(const SlabLog&) = delete;
    SlabLog& operator=(const SlabLog&) = delete;

    Position tail() const { return tail_; }
    Position head() const { return head_; }
    bool empty() const { return tail_ == head_; }
    // Of slabs.
    std::size_t bytes() const { return slabs_ * SlabPool::kSlabBytes; }

    void append(Bytes bytes);
    // Keeps the slice until its bytes are dropped.
    void append_shared(Slice slice);
    // Drops everything before `position`.
    void drop_before(Position position);
    // Fills `out` with spans of [from, to), which must lie in [tail, head]; returns their number. Covers less than requested if
    // `out` is too short.
    std::size_t spans(Position from, Position to, std::span<::iovec> out) const;
    // A log of the bytes of [from, to) alone. What this one refers to is referred to, the rest is copied.
    std::unique_ptr<SlabLog> copy_of(Position from, Position to) const;

private:
    struct Piece {
        Position end() const { return begin + size; }

        Position begin = 0;
        const std::uint8_t* data = nullptr;
        std::size_t size = 0;
        SlabPool::Slab slab;  // of the last piece in a full slab
        Slice shared;
    };

    void fill_slab(Bytes bytes);
    std::deque<Piece>::const_iterator find(Position position) const;

    SlabPool& pool_;
    std::deque<Piece> pieces_;
    SlabPool::Slab open_;  // being filled
    std::size_t filled_ = 0;
    std::size_t slabs_ = 0;
    Position tail_ = 0;
    Position head_ = 0;
};

}  // namespace live::media
