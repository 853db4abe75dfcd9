// SlabLog: an endless sequence of bytes, addressed by a position that starts at zero and never wraps. Appending copies once, into
// slabs of 64 KiB; large payloads are appended by reference. Reading returns a span for each slab or reference touched. Old bytes
// are dropped by whole slabs and references.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include <sys/uio.h>

#include "base/bytes/bytes.hpp"
#include "base/signal.hpp"

namespace live::media {

// Totals of the process's sources.
struct SourceTotals {
    std::size_t sources = 0;
    std::size_t packets = 0;  // in rings
    std::size_t packet_bytes = 0;
    // Raised when rings have dropped `much` bytes since it was last raised: enough for the heap to return memory to the system.
    Signal much_dropped;
    std::size_t much = SIZE_MAX;
    std::size_t dropped = 0;
};

// The memory of slabs, one pool per process, so that logs are created and destroyed without allocation. Slabs are parts of
// mapped regions, not of the heap: the end of a log with a long GOP leaves no holes between other blocks, and its memory is
// returned to the system in portions, by give_back_unused(), instead of by a walk through the heap.
class SlabPool {
public:
    static constexpr std::size_t kSlabBytes = 64 * 1024;
    // Mapped at once. Regions stay mapped, as address space; their number follows the most slabs that were ever in use.
    static constexpr std::size_t kRegionSlabs = 64;
    // Unused slabs kept for later logs, because new pages for a slab cost 35 us: an eighth of the number in use, and at least
    // kKeptMin. Fewer if they have not been needed for long: see age().
    static constexpr std::size_t kKeptMin = 64;
    static constexpr std::size_t kKeptPart = 8;
    // Slabs returned to the system at once, which takes some 0.5 ms.
    static constexpr std::size_t kGivenBackAtOnce = 16;
    // Spent slices kept for a worker; further ones are freed at once.
    static constexpr std::size_t kSpentMax = 16U << 20;

    // Returns the slab to its pool, which outlives it.
    struct Return {
        SlabPool* pool;
        void operator()(std::uint8_t* slab) const { pool->put_back(slab); }
    };
    using Slab = std::unique_ptr<std::uint8_t[], Return>;

    SlabPool() = default;
    ~SlabPool();
    SlabPool(const SlabPool&) = delete;
    SlabPool& operator=(const SlabPool&) = delete;

    Slab take();
    // Unused slabs that are not kept; their memory is still to be given back.
    std::size_t surplus() const;
    // Call this at an interval longer than a GOP. Slabs that were not needed since the previous call are not kept.
    void age();
    // Takes a payload that a ring or a log has dropped. Keeps it for take_spent() if no other data is on its pages, because
    // unmapping 1 MiB takes up to a millisecond.
    void recycle(Slice slice) {
        if (!slice.is_alone_on_pages() || spent_bytes_ + slice.memory_bytes() > kSpentMax)
            return;
        spent_bytes_ += slice.memory_bytes();
        spent_.push_back(std::move(slice));
    }
    // Any thread may free them.
    std::vector<Slice> take_spent() {
        spent_bytes_ = 0;
        return std::exchange(spent_, {});
    }
    // Memory still to be given back: of surplus slabs, and spent.
    std::size_t unused_bytes() const { return surplus() * kSlabBytes + spent_bytes_; }
    // Gives the memory of up to kGivenBackAtOnce surplus slabs back to the system; true: there is more.
    bool give_back_unused();
    // Slabs currently used by logs.
    std::size_t in_use() const { return in_use_; }
    // Unused slabs with memory.
    std::size_t free() const { return free_.size(); }
    // Sources count here, because the pool is the one object shared by all of a process.
    SourceTotals& totals() { return totals_; }
    const SourceTotals& totals() const { return totals_; }

private:
    void put_back(std::uint8_t* slab);
    void map_region();

    std::vector<std::uint8_t*> regions_;
    std::vector<std::uint8_t*> free_;   // the last one used is the first one taken
    std::vector<std::uint8_t*> empty_;  // without memory
    std::vector<Slice> spent_;
    std::size_t spent_bytes_ = 0;
    std::size_t in_use_ = 0;
    std::size_t free_min_ = 0;  // since the last age()
    std::size_t aged_ = 0;      // of free_: not needed between the last two
    SourceTotals totals_;
};

class SlabLog {
public:
    using Position = std::uint64_t;

    // From this size on a payload is appended by reference: a copy would block the loop. Such a slice has its own pages.
    static constexpr std::size_t kSharedMin = 512U << 10;

    explicit SlabLog(SlabPool& pool) : pool_(pool) {}
    ~SlabLog() { drop_before(head_); }
    SlabLog(const SlabLog&) = delete;
    SlabLog& operator=(const SlabLog&) = delete;

    Position tail() const { return tail_; }
    Position head() const { return head_; }
    bool empty() const { return tail_ == head_; }
    // The memory of the slabs and of the payloads that only this log refers to.
    std::size_t bytes() const { return slabs_ * SlabPool::kSlabBytes + owned_bytes_; }

    void append(Bytes bytes);
    // Keeps the slice until its bytes are dropped.
    void append_shared(Slice slice);
    // The same for memory without other owners.
    void append_owned(Slice slice);
    // Drops everything before `position`.
    void drop_before(Position position);
    // Fills `out` with spans of [from, to), which must lie in [tail, head]; returns their number. Covers less than requested if
    // `out` is too short.
    std::size_t spans(Position from, Position to, std::span<::iovec> out) const;
    // Returns a log of the bytes in [from, to). It shares the payloads that this log refers to and copies the rest.
    std::unique_ptr<SlabLog> copy_of(Position from, Position to) const;

private:
    struct Piece {
        Position end() const { return begin + size; }

        Position begin = 0;
        const std::uint8_t* data = nullptr;
        std::size_t size = 0;
        SlabPool::Slab slab;  // of the last piece in a full slab
        Slice shared;
        bool is_owned = false;
    };

    std::deque<Piece>::const_iterator find(Position position) const;

    SlabPool& pool_;
    std::deque<Piece> pieces_;
    SlabPool::Slab open_;  // being filled
    std::size_t filled_ = 0;
    std::size_t slabs_ = 0;
    std::size_t owned_bytes_ = 0;
    Position tail_ = 0;
    Position head_ = 0;
};

}  // namespace live::media
