// Reads PES packets, which pes.hpp writes: PesAssembler reassembles the units of one PID, parse_pes reads the header at the
// start of each unit (ISO/IEC 13818-1, 2.4.3.6).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::ts {

struct PesStart {
    std::uint8_t stream_id = 0;
    std::size_t header_bytes = 0;
    std::optional<std::uint64_t> pts;  // 33 bits at 90 kHz
    std::optional<std::uint64_t> dts;
};

// Errc::need_more, Errc::malformed.
Result<PesStart> parse_pes(Bytes unit);

class PesAssembler {
public:
    static constexpr std::size_t kUnitBytesMax = 8U << 20;
    // Units are put together one after the other in blocks that they share. A unit that is longer than half of this has memory of
    // its own.
    static constexpr std::size_t kBlockBytes = 48U << 10;

    struct Unit {
        Slice slice;
        MutBytes bytes;  // of the slice: nobody else refers to them yet, though others may share the memory
    };

    // Call this before the first payload of a unit. Returns the previous unit if its length was unknown, and drops it if it is
    // shorter than its declared length.
    std::optional<Unit> begin();
    // Returns the unit if this payload completes it.
    std::optional<Unit> push(Bytes payload);
    // The same for most payloads: one in the middle of a unit that has room for it. False: nothing has happened, call push().
    bool push_inside(Bytes payload) {
        const std::size_t end = size_ + payload.size();
        if (!open_ || size_ == 0 || end > room_.size() || (whole_ != 0 && end >= whole_))
            return false;
        copy_bytes(payload, room_.subspan(size_));
        size_ = end;
        return true;
    }
    // Like begin(), at the end of the stream.
    std::optional<Unit> finish();
    // Call this when bytes are missing. Drops the current unit, including its remaining payloads.
    void drop();

    // Number of units that began and were dropped.
    std::uint64_t dropped() const { return dropped_; }
    // Memory of the unit that has begun.
    std::size_t held_bytes() const { return size_ == 0 ? 0 : block_.size(); }

private:
    bool has_own_memory() const { return block_.size() > kBlockBytes; }
    std::size_t capacity_for(std::size_t size) const;
    void reserve(std::size_t size);
    Unit take(std::size_t size);

    Slice block_;
    MutBytes room_;          // the end of the block that no complete unit takes; the unit begins there
    std::size_t size_ = 0;   // of the unit so far
    std::size_t whole_ = 0;  // as declared; 0: unknown
    std::size_t usual_ = 0;  // about the size of the latest units
    std::uint64_t dropped_ = 0;
    bool open_ = false;
};

}  // namespace live::wire::ts
