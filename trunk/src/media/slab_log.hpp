// SlabLog: an endless run of bytes kept in slabs of 64 KiB, addressed by position from zero for ever. Appending copies once;
// reading gives spans of the slabs, one for each slab touched. Old bytes leave by whole slabs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <sys/uio.h>

#include "base/bytes.hpp"

namespace live::media {

// What the sources of the process hold now.
struct SourceTotals {
    std::size_t sources = 0;
    std::size_t packets = 0;  // in rings
    std::size_t packet_bytes = 0;
};

// Slabs that wait for their next use, one pool for the process, so that logs come and go without touching the heap.
class SlabPool {
public:
    static constexpr std::size_t kSlabBytes = 64 * 1024;
    static constexpr std::size_t kFreeSlabsMax = 64;
    using Slab = std::unique_ptr<std::uint8_t[]>;

    Slab take();
    void give_back(Slab slab);
    // Those that wait are given back.
    void release() { free_.clear(); }
    // Slabs in use by logs now.
    std::size_t in_use() const { return in_use_; }
    std::size_t free() const { return free_.size(); }
    // Sources count here: the pool is what all of a process share.
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

    explicit SlabLog(SlabPool& pool) : pool_(pool) {}
    ~SlabLog();
    SlabLog(const SlabLog&) = delete;
    SlabLog& operator=(const SlabLog&) = delete;

    Position tail() const { return tail_; }
    Position head() const { return head_; }
    std::size_t bytes() const { return slabs_.size() * SlabPool::kSlabBytes; }

    void append(Bytes bytes);
    // Everything before `position` is gone afterwards.
    void drop_before(Position position);
    // Fills `out` with spans of [from, to), which must lie in [tail, head]; returns how many. Fewer bytes than asked when `out`
    // is too short.
    std::size_t spans(Position from, Position to, std::span<::iovec> out) const;

private:
    SlabPool& pool_;
    std::deque<SlabPool::Slab> slabs_;
    Position first_slab_ = 0;  // number of slabs_.front()
    Position tail_ = 0;
    Position head_ = 0;
};

}  // namespace live::media
